/** Killed while it delivers results that the service states neither size nor hash of, the next run knows its own files. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readOwnRecords } from '../../../src/batch/records/other-journals.ts';
import { readBooks, sha256 } from '../../hosted/books.ts';
import { type Hosted, startHosted } from '../../hosted/service.ts';
import { VARIANTS } from '../../hosted/variants.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { HAS_STRACE, type SweepPoint } from '../records/support/strace.ts';
import { type OwnRun, runOwn } from './support/own-run.ts';
import { listPoints, resultIn, runUntil } from './support/sweep.ts';

const IS_LONG = process.env.VLOC_LONG_TESTS === '1';
/** The short run takes some points: fewer of those before a file has its name, which are those of every other run. */
const [EVERY_EARLY, EVERY_LATE] = IS_LONG ? [1, 1] : [150, 40];

const LANGUAGES = ['es', 'ca'];

const VIDEO = Buffer.from('\0\0\0\x18ftypisom and more');

async function prepareRun(hosted: Hosted, place: string): Promise<OwnRun> {
  const { key, secret } = hosted.account;
  const video = join(place, 'talk.mp4');
  const [out, stateDir] = [join(place, 'out'), join(place, 'state')];
  await mkdir(out, { recursive: true });
  // Each run has a video of its own, to distinguish payments.
  await writeFile(video, Buffer.concat([VIDEO, Buffer.from(place)]));
  return {
    baseUrl: hosted.baseUrl,
    credentials: { key, secret },
    stateDir,
    out,
    video,
    languages: LANGUAGES,
  };
}

/** True when the run was killed: two results are fetched side by side, so that not every run has as many calls. */
async function checkPoint(
  hosted: Hosted,
  place: string,
  { files: swept, call, time }: SweepPoint,
): Promise<boolean> {
  const at = `${swept}, ${call} ${time}`;
  const run = await prepareRun(hosted, place);
  const video = join(place, 'talk.mp4');
  const before = await readFile(video);
  const isKilled = await runUntil(run, { files: swept, call, time });
  const outcomes = await runOwn(run);
  expect(
    outcomes.map(({ state }) => state.phase),
    at,
  ).toEqual(['done', 'done']);

  const input = await readFile(video);
  expect(input.equals(before), at).toBe(true);
  const { jobs, payments } = readBooks(hosted);
  const ours = jobs.filter((job) => job.input === sha256(input));
  expect(ours.map(({ language }) => language).sort(), at).toEqual(LANGUAGES.toSorted());
  expect(Object.values(payments), at).toEqual(jobs.map(() => 1));
  expect((await readdir(run.out)).sort(), at).toEqual(['.vloc', ...LANGUAGES.map(resultIn).sort()]);
  for (const { language, files } of ours) {
    expect(sha256(await readFile(join(run.out, resultIn(language)))), `${at}: ${language}`).toBe(files.video);
  }
  const { attempts, damage } = await readOwnRecords({ folder: run.out });
  expect(damage, at).toEqual([]);
  const phases = [...attempts.byKey.values()].map(({ state }) => state);
  expect(phases, at).toEqual(['downloaded', 'downloaded']);
  await rm(dirname(run.out), { recursive: true });
  return isKilled;
}

it.skipIf(!HAS_STRACE)(
  'a run of two languages that is killed at any system call on its files delivers each result once (needs strace)',
  async () => {
    // Two for each point; the long run has more points than the usual credits pay for.
    const hosted = await startHosted(VARIANTS.minimal, new Set(), { credits: 10_000 });
    onTestFinished(() => hosted.close());
    const folder = makeFolder();
    const whole = await prepareRun(hosted, join(folder, 'whole'));
    const all = (await listPoints(whole, join(folder, 'trace'))).filter(({ isLate }) => isLate);
    const linked = all.findIndex(({ call }) => call === 'link');
    expect(linked).toBeGreaterThan(0);
    const points = all.filter((_, index) => index % (index < linked ? EVERY_EARLY : EVERY_LATE) === 0);
    let killed = 0;
    for (const point of points) {
      if (await checkPoint(hosted, join(folder, `${point.files}-${point.call}-${point.time}`), point))
        killed += 1;
    }
    expect(killed).toBeGreaterThan(points.length / 2);
  },
  // Dozens of points, two seconds each on a busy machine; in the long run nearly a thousand.
  IS_LONG ? 3_600_000 : 600_000,
);
