import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Separation, separateSound } from '../../../src/engines/separate/separate.ts';
import { createPrograms } from '../../../src/media/programs/programs.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createWork, ffmpeg, ffprobe, SAMPLE, speechClip, stepEngines } from '../workspace.ts';
import { level, samplesOf } from './sound.ts';

const FIXTURE = new URL('../../fixtures/sample.json', import.meta.url);

/** A second of music, three of speech, and half a second of music. */
function makeTalk(folder: string): string {
  const path = join(folder, 'talk.mov');
  ffmpeg('-ss', '8.2', '-i', SAMPLE, '-t', '4.4', '-c:v', 'mjpeg', '-c:a', 'pcm_s16le', path);
  return path;
}

/** The second clip of the sample, in seconds of that video. */
const { start, end } = JSON.parse(readFileSync(FIXTURE, 'utf8')).clips[1];
const SPOKEN = { start: start - 8.2, end: end - 8.2 };

describe('separating a part of the sample', () => {
  let folder = '';
  let sample = '';
  let separation: Separation;
  let reports: number[] = [];
  let vocals: Int16Array;
  let background: Int16Array;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'vloc-test-'));
    sample = makeTalk(folder);
    const work = createWork(folder);
    separation = await separateSound(await stepEngines(), sample, true, work);
    reports = work.reports.map(({ fraction }) => fraction);
    vocals = samplesOf(separation.vocals);
    background = samplesOf(separation.background);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('returns stems that add up to the input, sample for sample', () => {
    const input = samplesOf(sample, 'aresample=48000:async=1:first_pts=0');
    expect(vocals.length).toBe(input.length);
    expect(background.length).toBe(input.length);
    expect(input.every((sample, at) => (vocals[at] ?? 0) + (background[at] ?? 0) === sample)).toBe(true);
  });

  test('finds the speech where it is', () => {
    expect(separation.segments).toHaveLength(1);
    const [found] = separation.segments;
    // The clip has a little silence at its ends.
    expect(found?.start).toBeGreaterThan(SPOKEN.start - 0.1);
    expect(found?.start).toBeLessThan(SPOKEN.start + 0.5);
    expect(found?.end).toBeLessThan(SPOKEN.end + 0.1);
    expect(found?.end).toBeGreaterThan(SPOKEN.end - 0.5);
  });

  test('assigns the music before the clip to the background, and the speech to the vocals', () => {
    const before = [0.1, SPOKEN.start - 0.3] as const;
    expect(level(vocals, ...before)).toBeLessThan(-90);
    expect(level(background, ...before)).toBeGreaterThan(-60);
    for (const { start, end } of separation.segments) {
      expect(level(vocals, start, end)).toBeGreaterThan(level(background, start, end) + 10);
    }
  });

  test('measures what is left of the voice in the background', () => {
    expect(separation.residue).toBeLessThan(-25);
  });

  test('reports its progress up to the end', () => {
    expect(reports.length).toBeGreaterThan(20);
    expect(reports.at(-1)).toBe(1);
    expect(reports).toEqual(reports.toSorted((a, b) => a - b));
  });
});

test('sound without speech is background throughout', async () => {
  const folder = makeFolder();
  const file = join(folder, 'tone.mov');
  ffmpeg(
    ...['-f', 'lavfi', '-i', 'color=black:s=16x16:r=1:d=1', '-f', 'lavfi', '-i', 'sine=f=300:d=1'],
    ...['-c:v', 'mjpeg', '-c:a', 'pcm_s16le', file],
  );
  const { segments, vocals, use } = await separateSound(await stepEngines(), file, false, createWork(folder));
  expect(segments).toEqual([]);
  expect(use.silent).toBe(true);
  expect(samplesOf(vocals).every((sample) => sample === 0)).toBe(true);
});

test('cancelling ends the worker in the middle of its work', async () => {
  const folder = makeFolder();
  const sample = makeTalk(folder);
  const stop = new AbortController();
  let reached = 0;
  const report = (fraction: number) => {
    reached = fraction;
    if (fraction > 0.1) stop.abort();
  };
  const work = { ...createWork(folder, stop.signal), report };
  // With a worker that works, not with one that is remembered.
  const engines = await stepEngines(null, createPrograms(process.env.PATH ?? ''));
  await expect(separateSound(engines, sample, true, work)).rejects.toMatchObject({ name: 'AbortError' });
  expect(reached).toBeLessThan(0.9);
});

test("another program's stems get the format and length of the sound, and speech is found in its vocals", async () => {
  const folder = makeFolder();
  const file = join(folder, 'talk.mov');
  const picture = ['-f', 'lavfi', '-i', 'color=black:s=16x16:r=1:d=2', '-c:v', 'mjpeg', '-t', '2'];
  ffmpeg('-i', speechClip('0880'), ...picture, '-c:a', 'pcm_s16le', file);
  // The whole sound as vocals, in another format and half a second short; a background of a tenth of a second.
  const vocals = ['-map', '0:a', '-t', '1.5', '-ar', '44100', '-ac', '1', '{out}/voice.wav'];
  const background = ['-map', '0:a', '-t', '0.1', '{out}/rest.wav'];
  const engines = await stepEngines({
    separate: [
      {
        type: 'command',
        run: ['ffmpeg', '-nostdin', '-v', 'error', '-i', '{input}', ...vocals, ...background],
        vocals: 'voice.wav',
        background: 'rest.wav',
      },
    ],
  });
  const result = await separateSound(engines, file, true, createWork(folder));
  expect(result.use).toEqual({ step: 'separate', engine: 'command ffmpeg', skipped: [] });
  const frames = samplesOf(file, 'aresample=48000:async=1:first_pts=0').length;
  expect(samplesOf(result.vocals).length).toBe(frames);
  expect(samplesOf(result.background).length).toBe(frames);
  expect(ffprobe(result.voice ?? '', 'stream=sample_rate,channels')).toBe('16000\n1');
  expect(result.segments.length).toBeGreaterThan(0);
});
