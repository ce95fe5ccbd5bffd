/** Killed at each system call on its files, the next run ends as if nothing had happened. Source: reliability, 3.1. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOwnRecords } from '../../../src/batch/records/other-journals.ts';
import { HAS_STRACE, type SweepPoint } from '../records/support/strace.ts';
import { type OwnRun, runOwn } from './support/own-run.ts';
import { type Stage, startStage } from './support/stage.ts';
import { listPoints, PART, RESULT, runUntil } from './support/sweep.ts';

/** More than one of the batches in which a download is written; the engines of the stage hand it back as it is. */
const VIDEO = Buffer.alloc(4.5 * 1024 ** 2, ' ');
VIDEO.write(JSON.stringify({ seconds: 30 }));
const FOREIGN = Buffer.from('not from here');

const IS_LONG = process.env.VLOC_LONG_TESTS === '1';
/** All points take minutes; some of them in each run of the suite come by each in the long run. */
const EVERY = IS_LONG ? 1 : 150;

interface Scene {
  readonly name: string;
  /** Each run after a kill is one: only in the long run. */
  readonly isVariant?: true;
  readonly replace?: boolean;
  /** True for a scene that differs from the first one in the download alone. */
  readonly isLate?: boolean;
  /** A call that a run of this scene must come to, else the scene is not what its name says. */
  readonly through: string;
  /** What is there before the run. */
  readonly prepare: (run: OwnRun) => Promise<unknown>;
}

const SCENES: readonly Scene[] = [
  { name: 'a first run', through: 'link', prepare: async () => undefined },
  {
    name: 'a run that goes on with a part',
    isLate: true,
    through: 'pwrite64',
    prepare: ({ out }) => writeFile(join(out, PART), VIDEO.subarray(0, VIDEO.length / 2)),
  },
  {
    name: 'a run that throws a bad part away',
    isLate: true,
    through: 'ftruncate',
    prepare: ({ out }) => writeFile(join(out, PART), Buffer.alloc(VIDEO.length, 'x')),
  },
  {
    name: 'a run that replaces a file',
    isLate: true,
    replace: true,
    through: 'rename',
    prepare: ({ out }) => writeFile(join(out, RESULT), FOREIGN),
  },
  {
    name: 'a run that goes on after one that was killed',
    isVariant: true,
    through: 'pwrite64',
    prepare: async (run) =>
      expect(await runUntil(run, { files: 'records', call: 'pwrite64', time: 30 })).toBe(true),
  },
];

const PLAYED = SCENES.filter(({ isVariant = false }) => IS_LONG || !isVariant);

/** A place for one run, with what the scene wants there. */
async function prepareRun(stage: Stage, { replace = false, prepare }: Scene, name: string): Promise<OwnRun> {
  const video = join(stage.folder, 'talk.mp4');
  const run = stage.ownRun({ video, replace, languages: ['es'] }, join(stage.folder, name));
  await writeFile(video, VIDEO);
  await mkdir(run.out, { recursive: true });
  await prepare(run);
  return run;
}

async function checkPoint(stage: Stage, scene: Scene, point: SweepPoint): Promise<void> {
  const { files, call, time } = point;
  const at = `${scene.name}, ${files}, ${call} ${time}`;
  const before = await stage.books();
  const run = await prepareRun(stage, scene, `${files}-${call}-${time}`);
  expect(await runUntil(run, point), at).toBe(true);

  const found = await readFile(join(run.out, RESULT)).catch(() => null);
  const allowed = scene.replace === true ? [VIDEO, FOREIGN] : [VIDEO];
  if (found !== null || scene.replace === true) {
    expect(
      allowed.some((bytes) => found?.equals(bytes) === true),
      at,
    ).toBe(true);
  }
  expect((await readOwnRecords({ folder: run.out })).damage, at).toEqual([]);

  const outcomes = await runOwn(run);
  expect(
    outcomes.map(({ state }) => state.phase),
    at,
  ).toEqual(['done']);
  expect((await readdir(run.out)).sort(), at).toEqual(['.vloc', RESULT]);
  expect((await readdir(join(run.out, '.vloc'))).sort(), at).toEqual(['records.db', 'records.db-journal']);
  expect(VIDEO.equals(await readFile(join(run.out, RESULT))), at).toBe(true);
  const attempts = [...(await readOwnRecords({ folder: run.out })).attempts.byKey.values()];
  expect(
    attempts.map(({ state }) => state),
    at,
  ).toEqual(['downloaded']);
  const { jobs, charged, reserved } = await stage.books();
  const made = { jobs: jobs - before.jobs, charged: charged - before.charged, reserved };
  expect(made, at).toEqual({ jobs: attempts.length, charged: attempts.length, reserved: 0 });
  await rm(dirname(run.out), { recursive: true });
}

describe.skipIf(!HAS_STRACE)('at any system call on its files (needs strace)', () => {
  it.each(PLAYED.map((scene, place) => ({ ...scene, place })))(
    '$name is killed, and the next run ends as if nothing had happened',
    async ({ place, ...scene }) => {
      // Two at a time: as many as the machine of the suite has cores.
      const stages = [await startStage(), await startStage()] as const;
      const [first] = stages;
      const whole = await prepareRun(first, scene, 'whole');
      const all = await listPoints(whole, join(first.folder, 'trace'));
      expect(all.map(({ call }) => call)).toContain(scene.through);
      const points = all
        .filter(({ isLate }) => isLate || scene.isLate !== true)
        .filter((_, index) => index % EVERY === place % EVERY);
      expect(points.length).toBeGreaterThan(0);
      await Promise.all(
        stages.map(async (stage, lane) => {
          for (const point of points.filter((_, index) => index % stages.length === lane)) {
            await checkPoint(stage, scene, point);
          }
        }),
      );
    },
    // In the long run: a hundred points, two seconds each on a busy machine.
    300_000,
  );
});
