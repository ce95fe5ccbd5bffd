import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exportVideo } from '../../../src/media/export/export.ts';
import {
  commentTags,
  type MarkFacts,
  markVideo,
  readComment,
  readMark,
  sentenceOf,
} from '../../../src/media/export/mark.ts';
import { createWork, ffmpeg, ffprobe, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { askProgram } from '../../support/remembered-programs.ts';

const FACTS: MarkFacts = {
  ...{ isSpoken: true, from: 'en', to: ['es'], atMs: Date.parse('2026-11-29T23:59:00Z') },
  engines: [
    { step: 'translate', engine: 'apertium' },
    { step: 'speak', engine: 'espeak-ng' },
  ],
};
const SENTENCE =
  /^Synthetic speech in Spanish by espeak-ng, translated from English by apertium; made with vloc \S+ on 2026-11-29\.$/;

const CLIP = join(import.meta.dirname, '../../fixtures/two-seconds.mp4');

/** Two seconds of sound and picture. */
function media(...tags: string[]): string {
  const path = join(makeFolder(), 'talk.mp4');
  ffmpeg('-i', CLIP, '-c', 'copy', ...tags.flatMap((tag) => ['-metadata', tag]), path);
  return path;
}

const work = () => createWork(makeFolder());
const commentOf = (path: string) => readComment(programs, path, work());
const packetsOf = (path: string) => {
  const args = ['-v', 'error', '-i', path, '-map', '0', '-c', 'copy', '-f', 'framemd5', '-'];
  return askProgram('ffmpeg', args).toString();
};

/** What a comment says after the one that was there. */
function expectMark(comment: string): void {
  const mark = readMark(comment);
  expect(mark).toEqual({
    ...{ synthetic_speech: true, from: 'en', to: ['es'], engines: FACTS.engines },
    ...{ date: '2026-11-29', tool: expect.stringMatching(/^vloc \d/) },
  });
  expect(mark && sentenceOf(mark)).toMatch(SENTENCE);
  expect(comment).toMatch(/^Filmed in Bremen\nSynthetic speech/);
}

test('a mark is read from Ogg as it was written, after the comment that was there', async () => {
  const path = join(makeFolder(), 'talk.ogg');
  ffmpeg('-f', 'lavfi', '-i', 'sine=f=500:d=1', ...commentTags(FACTS, 'Filmed in Bremen'), path);
  expectMark((await commentOf(path)) ?? '');
});

test('an exported video is marked and keeps its other tags and all packets, and subtitles after its end make no track; the same mark is not written again', async () => {
  const video = media('comment=Filmed in Bremen', 'title=Talk', 'artist=Ana');
  const late = { language: 'es', lines: [{ index: 1, start_ms: 20_000, end_ms: 22_000, text: 'hola' }] };
  const task = { video, sound: { type: 'original' }, subtitle: late } as const;
  const options = { subtitleOutput: 'soft', resolution: 'source' } as const;
  const marked = await exportVideo(programs, { ...task, ...options, mark: FACTS }, work());
  expect(packetsOf(marked.path)).toBe(packetsOf(video));
  expect(ffprobe(marked.path, 'format_tags=title,artist')).toBe('Talk\nAna');
  expectMark((await commentOf(marked.path)) ?? '');
  expect(await markVideo(programs, marked.path, FACTS, work())).toBe(marked.path);
  expect(await markVideo(programs, video, null, work())).toBe(video);
});

test('a second mark replaces the first, and leaving it out restores the comment', () => {
  const before = 'Filmed in Bremen\nby Ana';
  const [, first = ''] = commentTags(FACTS, before);
  const comment = first.replace('comment=', '');
  const [, again = ''] = commentTags({ ...FACTS, to: ['de'] }, comment);
  expect(again.split('\n').map((row) => row.slice(0, 26))).toEqual([
    'comment=Filmed in Bremen',
    'by Ana',
    'Synthetic speech in German',
  ]);
  expect(commentTags(null, comment)).toEqual(['-metadata', `comment=${before}`]);
});

test('the sentence of a mark says what is not known, and what is not spoken', () => {
  const [, comment = ''] = commentTags(
    { ...FACTS, isSpoken: false, from: null, to: ['es', 'pt-BR'], engines: null },
    '',
  );
  expect(comment).toMatch(
    /^comment=Machine-translated subtitles in Spanish, Brazilian Portuguese; the service does not name its engines; made with/,
  );
});

test.each([
  'Synthetic speech [vloc-mark {}]',
  '[vloc-mark not json]',
  '[vloc-mark {"synthetic_speech":true,"from":null,"to":["es"],"engines":[{"step":"x","engine":"y"}],"date":"","tool":""}]',
])('a comment that is no mark is read as none: %s', (comment) => {
  expect(readMark(comment)).toBeNull();
});

test('a comment longer than the arguments of a program is cut, and what is no media has none', async () => {
  const [, comment = ''] = commentTags(FACTS, 'é'.repeat(200_000));
  expect(Buffer.byteLength(comment)).toBeLessThan(128 * 1024);
  expect(readMark(comment)?.to).toEqual(['es']);
  expect(await commentOf(import.meta.filename)).toBeNull();
  expect(readFileSync(import.meta.filename, 'utf8')).toContain('vloc-mark');
});
