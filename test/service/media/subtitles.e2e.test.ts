/** `subtitle_recognition` and `subtitle_translation`: what the one hears, the other translates. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SubtitleLine } from '../../../src/protocol/subtitle-line.ts';
import { readCues } from '../../support/media.ts';
import { wordErrorRate } from '../../support/words.ts';
import { cutSample, openStudio, PATIENCE, type Studio } from './studio.ts';

const SAMPLE = join(import.meta.dirname, '../../fixtures/sample.json');
const CLIPS: { start: number; end: number; words: string }[] = JSON.parse(readFileSync(SAMPLE, 'utf8')).clips;

let studio: Studio;
/** The `source` of a request: the first clip of the sample. */
let source: { type: string; upload_id: string };
/** Jobs that succeeded, with their SRT files. */
let heard: Awaited<ReturnType<typeof recognize>>;

beforeAll(async () => {
  studio = await openStudio();
  const video = cutSample(studio.folder, 8.6);
  source = { type: 'upload', upload_id: await studio.upload(video, 'source_video') };
  heard = await recognize({}, 'heard.srt');
}, PATIENCE.timeout);
afterAll(() => studio.close());

async function recognize(options: Record<string, string>, name: string) {
  const { result } = await studio.run('subtitle-recognitions', { source, ...options });
  return { ...result, srt: await studio.fetch(result.subtitle, name) };
}

async function translate(subtitle: unknown, options: Record<string, string>, name: string) {
  const { result } = await studio.run('subtitle-translations', { subtitle, ...options });
  return { ...result, srt: await studio.fetch(result.subtitle, name) };
}

/** Lines in the form in which another reader of SRT returns cues. */
const asCues = (lines: readonly SubtitleLine[]) =>
  lines.map(({ start_ms, end_ms, text }) => ({ start: start_ms / 1000, end: end_ms / 1000, text }));
const times = (lines: readonly SubtitleLine[]) => lines.map(({ start_ms, end_ms }) => [start_ms, end_ms]);

describe('subtitle recognition', () => {
  it('detects the language, and most of the words', () => {
    expect(heard.language).toBe('en');
    const said = CLIPS[0]?.words ?? '';
    const words = heard.lines.map((line: SubtitleLine) => line.text).join(' ');
    expect(wordErrorRate(said, words)).toBeLessThan(0.45);
  });

  it('returns the same cues as SRT and as lines, numbered, in order, inside the video', () => {
    expect(readCues(heard.srt)).toEqual(asCues(heard.lines));
    const numbers = heard.lines.map((line: SubtitleLine) => line.index);
    expect(numbers).toEqual(numbers.map((_: number, at: number) => at + 1));
    const edges = times(heard.lines).flat();
    expect(edges).toEqual(edges.toSorted((left, right) => left - right));
    expect(edges.at(-1)).toBeLessThanOrEqual(8600);
  });

  it('uses the language that is named', PATIENCE, async () => {
    const named = await recognize({ source_language: 'en-US' }, 'named.srt');
    expect(named.lines).toEqual(heard.lines);
    const unknown = await studio.post('subtitle-recognitions', { source, source_language: 'fi' });
    expect([unknown.status, unknown.json.code]).toEqual([422, 'LANGUAGE_NOT_SUPPORTED']);
  });
});

describe('subtitle translation', () => {
  it('keeps the times of a file of subtitles and changes the words', PATIENCE, async () => {
    const upload = await studio.upload(heard.srt, 'subtitle_file');
    const spanish = await translate(
      { type: 'upload', upload_id: upload },
      { target_language: 'es' },
      'a.srt',
    );
    expect(spanish.language).toBe('es');
    expect(times(spanish.lines)).toEqual(times(heard.lines));
    expect(readCues(spanish.srt)).toEqual(asCues(spanish.lines));
    const words = spanish.lines.map((line: SubtitleLine) => line.text).join(' ');
    expect(words).toMatch(/\b(el|la|los|que|de|no|un|una|para|había)\b/i);
    expect(words).not.toMatch(/\b(the|and|was|had|he)\b/i);
  });

  it('does the same with lines, from a named or a detected language', PATIENCE, async () => {
    const lines = [
      { index: 1, start_ms: 100, end_ms: 1_900, text: 'The house is red.' },
      { index: 2, start_ms: 2_000, end_ms: 3_456, text: 'I have a small dog,\nand he is old.' },
    ];
    const subtitle = { type: 'lines', lines };
    const [named, found] = await Promise.all([
      translate(subtitle, { source_language: 'en', target_language: 'es' }, 'named-es.srt'),
      translate(subtitle, { target_language: 'es' }, 'found-es.srt'),
    ]);
    expect(named.lines[0].text).toBe('La casa es roja.');
    expect(found.lines).toEqual(named.lines);
    expect(times(named.lines)).toEqual(times(lines));
    expect(readCues(named.srt)).toEqual(asCues(named.lines));
  });
});
