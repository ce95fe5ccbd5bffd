/** `--sample`: what it is planned as, and what becomes of short videos. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Context, TestSettings } from '../../../src/commands/context/context.ts';
import { noteSamples } from '../../../src/commands/jobs/sample.ts';
import { ffmpeg, SAMPLE } from '../../engines/workspace.ts';
import { createSmallEngines, mediaOf } from '../../service/harness/small-engines.ts';
import { linesOf } from '../support/run-vloc.ts';
import { type MediaDesk, openMediaDesk } from './desk.ts';

/** Seven seconds are two parts, each a started minute. A sample has one. */
const limits: NonNullable<TestSettings['limits']> = {
  seconds: 6,
  bytes: 1e9,
  lines: 100,
  parts: { equalSeconds: 4, mostSeconds: 5.5, mostBytes: 1e9 },
};

/** Each runs ffmpeg several times, on machines that do other work too. */
const PATIENCE = { timeout: 300_000 };

const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'];

/** Writes speech; nobody speaks from 3.3 to 4.3 s. */
function makeTalk(path: string, length = 7): void {
  ffmpeg('-ss', '4.8', '-t', String(length), '-i', SAMPLE, '-vf', 'scale=64:48,fps=5', ...H264, path);
}

/** A service that takes what it gets for a video of five seconds. */
async function open() {
  const desk = await openMediaDesk({ engines: { ...createSmallEngines(), inspect: async () => mediaOf(5) } });
  const at = (name: string) => join(desk.folder, name);
  const run = (...words: string[]) => desk.vloc(words, { limits });
  return { desk, at, run };
}

const jobsOf = (desk: MediaDesk) => desk.count('createAutoLocalization');

describe('a sample', PATIENCE, () => {
  test('is planned as one upload for all languages, converted, beside the cost of the whole', async () => {
    const { desk, at, run } = await open();
    makeTalk(at('talk.mp4'));
    ffmpeg('-i', at('talk.mp4'), '-c', 'copy', at('talk.mkv'));
    const words = ['localize', 'talk.mkv', '--from', 'en', '--to', 'es,fr', '--convert', '--sample', '5s'];
    const plan = await run(...words, '--dry-run', '-o', 'json');
    expect(plan.code, plan.stderr).toBe(0);
    const { items, ...sums } = JSON.parse(plan.stdout);
    expect(sums).toMatchObject({ jobs: 2, uploads: 1, quantity: 2 });
    expect(items[0].results[0]).toMatch(/talk\.es\.sample\.mp4$/);
    expect(plan.stderr).toContain('The whole has 4 started minutes.');
    expect(desk.count('createUpload')).toBe(0);
  });

  test('takes a shorter video whole, beside one that cannot be used, and is told apart from the whole when the journal is lost', async () => {
    const { desk, at, run } = await open();
    mkdirSync(at('in'));
    makeTalk(at('in/short.mp4'), 2);
    writeFileSync(at('in/bad.mp4'), 'no video');
    const words = ['localize', 'in', '--to', 'es', '--out', 'out'];
    const first = await run(...words, '--sample');
    expect(first.code, first.stderr).toBe(3);
    const sample = at('out/short.es.sample.mp4');
    expect(readFileSync(sample).equals(readFileSync(at('in/short.mp4')))).toBe(true);
    expect(first.stderr).toContain('continue with:\n  vloc localize in --to es --out out\n');
    // A sample that was done before costs nothing again.
    const again = await run(...words, '--sample', '-o', 'ndjson');
    expect(linesOf(again.stdout).slice(-2)).toMatchObject([
      { type: 'sample', units: [{ quantity: 0, whole_quantity: 1 }] },
      { type: 'summary' },
    ]);
    rmSync(at('out'), { recursive: true });
    expect((await run(...words)).code).toBe(3);
    expect([existsSync(at('out/short.es.mp4')), jobsOf(desk)]).toEqual([true, 2]);
    expect((await run(...words, '--sample', '--rebuild')).code).toBe(3);
    expect([existsSync(sample), jobsOf(desk)]).toEqual([true, 2]);
  });
});

describe('a sample in stages', PATIENCE, () => {
  test('speaks only those cues of given subtitles that begin in it', async () => {
    const { at, run } = await open();
    makeTalk(at('talk.mp4'));
    const cue = (n: number, text: string) => `${n}\n00:00:0${n},000 --> 00:00:0${n},900\n${text}\n`;
    writeFileSync(at('talk.es.srt'), [cue(1, 'one'), cue(6, 'long '.repeat(300))].join('\n'));
    const words = ['localize', 'talk.mp4', '--to', 'es', '--original-audio', 'mute', '--sample', '5s'];
    for (const given of [['--subtitle', 'talk.es.srt'], ['--from-subtitles']]) {
      const { stdout, stderr } = await run(...words, ...given, '--dry-run', '-o', 'json');
      expect(JSON.parse(stdout).stages, stderr).toMatchObject([{ kind: 'dubbing', quantity: 1 }]);
    }
  });
});

test.each([
  [['--sample', 'talk.mp4'], /invalid --sample "talk\.mp4": .* write --sample after the inputs/],
  [['--sample', '1s', 'talk.mp4'], /invalid --sample "1s": expected a time from 5s/],
  [
    ['https://a.example/talk.mp4', '--sample'],
    /not a file on this machine, from which --sample could be cut/,
  ],
  [['talk.mp4', '--sample', '--watch'], /--watch cannot be combined with --sample/],
])('a sample is refused before anything is sent if it cannot work: %j', async (words, message) => {
  const desk = await openMediaDesk();
  const { code, stderr } = await desk.vloc(['localize', ...words, '--to', 'es']);
  expect([code, desk.count('createUpload')]).toEqual([2, 0]);
  expect(stderr).toMatch(message);
});

test('the end of a sample names no credits if the service does not report them', () => {
  const notes: string[] = [];
  // A cast: nothing else of it is used.
  const terminal = { note: (text: string) => notes.push(text) } as unknown as Context['terminal'];
  const units = [{ unit: 'started_minute', quantity: 1, whole_quantity: 2 }] as const;
  noteSamples({ terminal }, { units, charged_credits: null, whole_credits: null, continue: 'x' }, false);
  expect(notes).toEqual(['1 started minute paid; the whole costs 2 started minutes; continue with:', '  x']);
});
