/** Folders in stages with videos or subtitles that cannot be used: the rest runs, and everything counts the same. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ffmpeg } from '../../engines/workspace.ts';
import type { Ended } from '../../support/run-main.ts';
import { linesOf } from '../support/run-vloc.ts';
import { type Staging, startStaging } from './staging.ts';

const SRT = '1\n00:00:00,000 --> 00:00:00,900\nhola\n';

interface Failing {
  readonly input: string;
  readonly target_language: string;
  readonly message: string;
}

/** Reasons of what failed, by label; the last line must count the same. */
function failedOf(ended: Ended): Record<string, string> {
  const lines = linesOf(ended.stdout);
  const failed = lines.filter(({ type }) => type === 'failed');
  expect(lines.at(-1), ended.stderr).toMatchObject({
    type: 'summary',
    failed: failed.length,
    exit_code: ended.code,
  });
  const nameOf = ({ input, target_language: language }: Failing) => `${input} → ${language}`;
  return Object.fromEntries(failed.map((each: Failing) => [nameOf(each), each.message]));
}

/** What the journal knows as failed; the report must agree. */
async function failedInFolder({ run }: Staging): Promise<Record<string, string>> {
  const status = await run(['batch', 'status', 'out', '--all', '-o', 'json']);
  const report = JSON.parse((await run(['batch', 'report', 'out', '--format', 'json'])).stdout);
  const { items, counts } = JSON.parse(status.stdout);
  expect([report.items, report.counts]).toEqual([items, counts]);
  const failed = items.filter(({ state }: { state: string }) => state === 'failed');
  expect(counts).toMatchObject({ failed: failed.length, done: items.length - failed.length });
  expect(status.code).toBe(failed.length === 0 ? 0 : 3);
  type Item = { label: string; error: { message: string } };
  return Object.fromEntries(failed.map(({ label, error }: Item) => [label, error.message]));
}

/** `good.mp4` can be used. */
async function openFolder(): Promise<Staging> {
  const vloc = await startStaging();
  await rm(vloc.path('talk.mp4'));
  await vloc.addVideo('in/good.mp4');
  writeFileSync(vloc.path('in/junk.mp4'), 'not a video');
  const inputs = ['-i', vloc.path('in/good.mp4'), '-map', '0:v', '-map', '0:a', '-map', '0:a'];
  ffmpeg(...inputs, '-c', 'copy', vloc.path('in/two.mp4'));
  execFileSync('mkfifo', [vloc.path('in/pipe.mp4')]);
  return vloc;
}

const WORDS = ['localize', 'in', '--to', 'es', '--from', 'en', '--out', 'out'];
const VIDEOS = ['in/junk.mp4 → es', 'in/pipe.mp4 → es', 'in/two.mp4 → es'];

it('unusable videos fail, and the rest reaches the gate and continues from it', async () => {
  const vloc = await openFolder();
  const gate = [...WORDS, '--stop-after', 'translate', '-o', 'ndjson'];
  const ran = await vloc.run(gate);
  expect(ran.code, ran.stderr).toBe(3);
  const failed = failedOf(ran);
  expect(Object.keys(failed).toSorted()).toEqual(VIDEOS);
  expect(failed['in/two.mp4 → es']).toMatch(/2 audio tracks; choose one with --audio-track/);
  expect(failed['in/pipe.mp4 → es']).toMatch(/not a regular file/);
  expect(ran.stderr).toContain('3 of 4 items failed');
  expect(vloc.has('in/good.es.srt')).toBe(true);
  expect(await failedInFolder(vloc)).toEqual(failed);

  // What the command excludes from now on needs no one any more.
  const excluded = ['junk.mp4', 'pipe.mp4', 'two.mp4'].flatMap((name) => ['--exclude', name]);
  const last = await vloc.run([...gate, ...excluded]);
  expect(last.code, last.stderr).toBe(0);
  expect(await failedInFolder(vloc)).toEqual({});
  expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
});

it('unusable subtitles fail only their language of their video', async () => {
  const vloc = await startStaging();
  await rm(vloc.path('talk.mp4'));
  for (const name of ['a', 'c']) await vloc.addVideo(`in/${name}.mp4`);
  writeFileSync(vloc.path('in/a.es.srt'), 'junk');
  writeFileSync(vloc.path('in/a.fr.srt'), SRT);
  mkdirSync(vloc.path('in/c.en.srt'));
  const words = [...WORDS.with(3, 'es,fr'), '--from-subtitles', '--stop-after', 'translate'];
  const planned = await vloc.run([...words, '--dry-run', '-o', 'json']);
  expect(planned.code, planned.stderr).toBe(3);
  const { not_usable: problems } = JSON.parse(planned.stdout);
  expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);

  const ran = await vloc.run([...words, '-o', 'ndjson']);
  expect(ran.code, ran.stderr).toBe(3);
  const failed = failedOf(ran);
  expect(Object.keys(failed).toSorted()).toEqual(['in/a.mp4 → es', 'in/c.mp4 → es', 'in/c.mp4 → fr']);
  expect(failed['in/a.mp4 → es']).toContain('in/a.es.srt');
  expect(failed['in/c.mp4 → fr']).toBe('in/c.en.srt: this is not a regular file; remove or rename it');
  type Problem = { input: string; target_language: string; problem: string };
  const told = problems.map((each: Problem) => [`${each.input} → ${each.target_language}`, each.problem]);
  expect(Object.fromEntries(told)).toEqual(failed);
  expect(vloc.read('in/a.es.srt')).toBe('junk');
  expect(await failedInFolder(vloc)).toEqual(failed);
});
