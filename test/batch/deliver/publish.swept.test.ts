/** Killed at any system call on its files, a command that is repeated puts each of its files in its place, and no other. */
import { randomBytes } from 'node:crypto';
import { appendFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readOwnRecords } from '../../../src/batch/records/other-journals.ts';
import { recordsPath } from '../../../src/batch/records/record-folder.ts';
import { type Staging, startStaging } from '../../commands/stages/staging.ts';
import { bundleScript } from '../../support/bundled.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { digestTree, listTree } from '../../support/untouched.ts';
import {
  HAS_STRACE,
  killAt,
  pointsOf,
  type SweepPoint,
  type SweptProcess,
} from '../records/support/strace.ts';

const IS_LONG = process.env.VLOC_LONG_TESTS === '1';
/** All points take minutes; some of them in each run of the suite come by each in the long run. */
const EVERY = IS_LONG ? 1 : 150;
const SCRIPT = join(import.meta.dirname, '../../commands/support/vloc-process.ts');
const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhola\n';
const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '--out', 'out'];

interface Scene {
  readonly name: string;
  /** The sweeps of `hosted` kill such a run at random moments: only in the long run. */
  readonly isVariant?: true;
  readonly words: readonly string[];
  /** The files that it makes, below the folder. */
  readonly made: readonly string[];
  /** Jobs that are paid from the beginning of the command to its end, by kind as `Staging.jobs` has them. */
  readonly jobs: readonly number[];
  /** Makes what is there before; returns further words, such as an id. */
  readonly prepare?: (vloc: Staging, folder: string) => Promise<readonly string[]>;
}

/** Runs a command in a folder with records of its own. */
async function run(vloc: Staging, folder: string, words: readonly string[]): Promise<void> {
  const { code, stderr } = await vloc.run(words, { cwd: folder, env: stateOf(folder) });
  expect(code, `${words.join(' ')}\n${stderr}`).toBe(0);
}

const stateOf = (folder: string) => ({ VLOC_STATE_DIR: join(folder, 'state') });

/** Makes the bytes of an input others than those of any other point. */
async function change(path: string, mark: string): Promise<void> {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(8 + Buffer.byteLength(mark));
  // A box at the end of a video that players skip.
  await writeFile(path, Buffer.concat([await readFile(path), size, Buffer.from(`free${mark}`)]));
}

const SEPARATE = ['separate', 'talk.mp4', '--out', 'out'];
const SOUNDS = ['out/talk.background.wav', 'out/talk.vocals.wav'];
const EXPORT = [...LOCALIZE, '--subtitle', 'mine.srt', '--mode', 'subtitles_only'];

const SCENES: readonly Scene[] = [
  {
    name: 'a result of two files in place of an earlier one',
    words: SEPARATE,
    made: SOUNDS,
    jobs: [0, 0, 0, 1],
    async prepare(vloc, folder) {
      await run(vloc, folder, SEPARATE);
      await change(join(folder, 'talk.mp4'), 'again');
      return [];
    },
  },
  {
    name: 'subtitles beside a video',
    isVariant: true,
    words: [...LOCALIZE, '--stop-after', 'translate'],
    made: ['talk.en.srt', 'talk.es.srt'],
    jobs: [1, 1, 0, 0],
  },
  {
    name: 'a finished video in place of an earlier one',
    isVariant: true,
    words: EXPORT,
    made: ['out/talk.es.mp4'],
    jobs: [0, 0, 0, 0],
    async prepare(vloc, folder) {
      await run(vloc, folder, EXPORT);
      await writeFile(join(folder, 'mine.srt'), SRT.replace('hola', 'adiós'));
      return [];
    },
  },
  {
    name: 'a download',
    words: ['jobs', 'download', '--out', 'out'],
    made: SOUNDS,
    jobs: [0, 0, 0, 0],
    async prepare(vloc, folder) {
      await run(vloc, folder, [...SEPARATE, '--detach']);
      const { attempts } = await readOwnRecords({ folder: join(folder, 'out') });
      const attempt = attempts.byKey.values().next().value;
      const id = attempt?.job_id ?? null;
      if (attempt?.state !== 'accepted' || id === null) throw new Error('a job was sent');
      await run(vloc, folder, ['jobs', 'wait', id, '--out', 'elsewhere']);
      await rm(join(folder, 'elsewhere'), { recursive: true });
      return [id];
    },
  },
];

/** A folder with the inputs of the user, one of them changed by the mark, and a file that is nobody's result. */
async function prepareFolder(vloc: Staging, { words, prepare }: Scene, name: string) {
  const folder = join(vloc.folder, name);
  await mkdir(join(folder, 'out'), { recursive: true });
  await cp(vloc.path('talk.mp4'), join(folder, 'talk.mp4'));
  await change(join(folder, 'talk.mp4'), name);
  await writeFile(join(folder, 'mine.srt'), SRT);
  await writeFile(join(folder, 'out', 'note.txt'), 'of the user');
  const more = (await prepare?.(vloc, folder)) ?? [];
  return { folder, words: [...words, ...more] };
}

async function processIn(
  vloc: Staging,
  scene: Scene,
  folder: string,
  words: readonly string[],
): Promise<SweptProcess> {
  const databases = [recordsPath({ folder: join(folder, 'out') }), join(folder, 'state', 'records.db')];
  const made = scene.made.map((path) => join(folder, path));
  const parts = scene.made.map((path) => join(folder, path).replace(/[^/]+$/, '.$&.part'));
  return {
    command: [process.execPath, await bundleScript(SCRIPT), ...words],
    cwd: folder,
    env: { ...vloc.env, ...stateOf(folder), PATH: rememberingPath() },
    files: {
      records: databases.flatMap((path) => [path, `${path}-journal`]),
      results: [folder, join(folder, 'out'), join(folder, 'out/.vloc'), ...made, ...parts],
    },
  };
}

async function checkPoint(vloc: Staging, scene: Scene, point: SweepPoint): Promise<boolean> {
  const at = `${scene.name}, ${point.files}, ${point.call} ${point.time}`;
  const { folder, words } = await prepareFolder(vloc, scene, `${point.files}-${point.call}-${point.time}`);
  const given = ['talk.mp4', 'mine.srt', 'out/note.txt'];
  const digest = (names: readonly string[]) => digestTree(folder, (name) => names.includes(name));
  const before = await digest(given);
  const jobs = await vloc.jobs();
  const { isKilled } = await killAt(await processIn(vloc, scene, folder, words), point);
  await run(vloc, folder, words);
  const whole = await listTree(folder, (name) => !/^(out\/\.vloc|state)\//.test(name));
  expect(whole, at).toEqual([...given, ...scene.made].toSorted());
  expect(await digest(given), at).toEqual(before);
  const { findOutputs, damage } = await readOwnRecords({ folder: join(folder, 'out') });
  expect(damage, at).toEqual([]);
  for (const name of scene.name === 'a download' ? [] : scene.made)
    expect(findOutputs({ path: join(folder, name) }), at).toHaveLength(1);
  const paid = (await vloc.jobs()).map((count, place) => count - (jobs[place] ?? 0));
  expect(paid, at).toEqual(scene.jobs);
  const made = await digest(scene.made);
  await run(vloc, folder, words);
  expect(await vloc.jobs(), at).toEqual(jobs.map((count, place) => count + (scene.jobs[place] ?? 0)));
  expect(await digest(scene.made), at).toEqual(made);
  await rm(folder, { recursive: true });
  return isKilled;
}

/** Starts a service whose separated sounds are others in each job. */
const startService = () =>
  startStaging({}, (run) => ({
    ...run,
    async audio_separation(task, work) {
      const made = await run.audio_separation(task, work);
      for (const { path } of [made.vocalAudio, made.backgroundAudio]) await appendFile(path, randomBytes(8));
      return made;
    },
  }));

/** Points that share a service: it lists no more than fifty jobs of a kind. */
const SHARING = 20;

it.skipIf(!HAS_STRACE).each(SCENES.filter(({ isVariant = false }) => IS_LONG || !isVariant))(
  '$name (needs strace)',
  async (scene) => {
    const first = await startService();
    const { folder, words } = await prepareFolder(first, scene, 'whole');
    const all = await pointsOf(await processIn(first, scene, folder, words), join(first.folder, 'trace'));
    const late = all.filter(({ isLate }) => isLate);
    const points = late.filter((_, index) => index % EVERY === SCENES.indexOf(scene) % EVERY);
    let killed = 0;
    for (let at = 0; at < points.length; at += SHARING) {
      const vloc = await startService();
      for (const point of points.slice(at, at + SHARING))
        if (await checkPoint(vloc, scene, point)) killed += 1;
    }
    if (EVERY === 1) process.stderr.write(`${scene.name}: ${killed} kills of ${late.length}\n`);
    expect(killed).toBeGreaterThan(points.length / 2);
  },
  EVERY === 1 ? 3_600_000 : 600_000,
);
