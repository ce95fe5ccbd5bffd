/** Killed while it delivers a result that the service states neither size nor hash of, the next run knows its own file. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readLog } from '../../../src/journal/append-log.ts';
import { foldIntents } from '../../../src/journal/intents.ts';
import { readBooks, sha256 } from '../../hosted/books.ts';
import { type Hosted, startHosted } from '../../hosted/service.ts';
import { VARIANTS } from '../../hosted/variants.ts';
import { newFolder } from '../../journal/support/folder.ts';
import { HAS_STRACE } from '../../journal/support/strace.ts';
import { listPoints, RESULT, runUntil, type SweepPoint } from './support/sweep.ts';
import { runSwept, type SweptRun } from './support/swept-batch.ts';

/** Points that come before the file has its name are those of every other run, so that some of them will do. */
const EVERY = process.env.VLOC_LONG_TESTS === '1' ? 1 : 6;

const VIDEO = Buffer.from('\0\0\0\x18ftypisom and more');

async function prepareRun(hosted: Hosted, place: string): Promise<SweptRun> {
  const { key, secret } = hosted.account;
  const video = join(place, 'talk.mp4');
  const [out, stateDir] = [join(place, 'out'), join(place, 'state')];
  await mkdir(out, { recursive: true });
  // Each run is about a video of its own, so that payments can be told apart.
  await writeFile(video, Buffer.concat([VIDEO, Buffer.from(place)]));
  return { baseUrl: hosted.baseUrl, credentials: { key, secret }, stateDir, out, video, replace: false };
}

async function checkPoint(hosted: Hosted, place: string, { call, time }: SweepPoint): Promise<void> {
  const at = `${call} ${time}`;
  const run = await prepareRun(hosted, place);
  expect(await runUntil(run, { call, time }), at).toBe(true);
  const [outcome] = await runSwept(run);
  expect(outcome?.state, at).toMatchObject({ phase: 'done' });

  const input = await readFile(run.video);
  const { jobs, payments } = readBooks(hosted);
  const ours = jobs.filter((job) => job.input === sha256(input));
  expect(ours, at).toHaveLength(1);
  expect(Object.values(payments), at).toEqual(jobs.map(() => 1));
  expect((await readdir(run.out)).sort(), at).toEqual(['.vloc', RESULT]);
  expect(sha256(await readFile(join(run.out, RESULT))), at).toBe(ours[0]?.files.video);
  const { records, damage } = await readLog(join(run.out, '.vloc', 'journal'));
  expect(damage, at).toEqual([]);
  const [intent, ...others] = foldIntents(records).byKey.values();
  expect([intent?.outcome.phase, others], at).toEqual(['downloaded', []]);
  await rm(dirname(run.out), { recursive: true });
}

it.skipIf(!HAS_STRACE)(
  'a run that is killed at any system call on its files delivers its result once (needs strace)',
  async () => {
    const named: readonly string[] = ['input-none', 'job-bare'];
    const chosen = VARIANTS.minimal.filter((difference) => !named.includes(difference));
    const hosted = await startHosted(chosen, new Set());
    onTestFinished(() => hosted.close());
    const folder = newFolder();
    const whole = await prepareRun(hosted, join(folder, 'whole'));
    const all = (await listPoints(whole, join(folder, 'trace'))).filter(({ isLate }) => isLate);
    const linked = all.findIndex(({ call }) => call === 'link');
    expect(linked).toBeGreaterThan(0);
    const points = all.filter((_, index) => index >= linked || index % EVERY === 0);
    for (const point of points) {
      await checkPoint(hosted, join(folder, `${point.call}-${point.time}`), point);
    }
  },
  // A quarter of a hundred points, two seconds each on a busy machine; in the long run twice as many.
  EVERY === 1 ? 300_000 : 180_000,
);
