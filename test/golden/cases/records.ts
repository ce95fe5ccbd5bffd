/** What folders of results remember, and what happens when it is damaged, locked, or no longer fits the files. */
import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { type Runtime, SYSTEM_RUNTIME } from '../../../src/client/runtime.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { until } from '../../service/harness/scene.ts';
import type { Ended } from '../../support/run-main.ts';
import { again, type Case, type Stage } from '../stage.ts';
import {
  FILES,
  makeBatch,
  makeJob,
  prepare,
  SRT,
  TRANSLATE,
  untilHeld,
  untilStatus,
  useOwnService,
} from './files.ts';

const IN_OUT = `${TRANSLATE} --out out`;
const DATABASE = 'out/.vloc/records.db';

/** `a.srt` is translated into `out`, and then something is changed. */
const translated = (when: string, line: string, change: (stage: Stage) => Promise<unknown>): Case => ({
  line,
  when,
  files: FILES,
  before: async (stage) => {
    await prepare(stage, IN_OUT);
    await change(stage);
  },
});

/** Changes a byte of what the record says about the item. */
async function damage(stage: Stage): Promise<void> {
  const bytes = await readFile(stage.path(DATABASE), 'latin1');
  await writeFile(
    stage.path(DATABASE),
    bytes.replaceAll('"client_reference":', '"clienT_reference":'),
    'latin1',
  );
}

/** The job is done at the service, and its result was not downloaded. */
async function finishUnfetched(stage: Stage): Promise<void> {
  const { stdout } = await stage.run(`${IN_OUT} --detach -o id`);
  await untilStatus(stage, stdout.trim(), 'succeeded');
}

const failed = (code: 'SOURCE_UNREACHABLE' | 'SUBTITLE_INVALID', line: string): Case => ({
  line,
  when: code,
  before: (stage) => makeBatch(stage, code),
  unordered: true,
});

/** Leaves a job running and replaces JOB by its id. */
async function holdJob(stage: Stage): Promise<void> {
  stage.engines.hold();
  const id = await makeJob(stage);
  await untilHeld(stage, id);
  stage.fill('JOB', id);
}

/** Finishes a job and replaces JOB by its id. */
async function finishJob(stage: Stage): Promise<void> {
  const id = await makeJob(stage);
  await untilStatus(stage, id, 'succeeded');
  stage.fill('JOB', id);
}

/** Waits until the records in the folder `out` have a job. */
async function untilShown(stage: Stage): Promise<void> {
  const show = () => stage.run('batch status out').catch(() => null);
  await until(async () => (await show())?.stdout.includes('tra_'));
}

/** Starts the line, whose `--timeout` is over when it has seen the job at work. */
async function timeOut(stage: Stage, words: readonly string[]): Promise<Ended> {
  const sleep: Runtime['sleep'] = async (ms, signal) => {
    if (ms < 3_600_000) return SYSTEM_RUNTIME.sleep(Math.min(ms, 100), signal);
    await until(running.stderr, (notes) => notes.includes('processing'));
  };
  const running = stage.start(words, { pace: { runtime: { sleep } } });
  return running.ended;
}

/** Starts the line, and presses Ctrl-C when the service works on the job. */
async function interrupt(stage: Stage, words: readonly string[]): Promise<Ended> {
  stage.engines.hold();
  const already = stage.engines.begun.length;
  const { send, ended } = stage.start(words);
  await until(() => stage.engines.begun.length > already);
  await untilShown(stage);
  send('SIGINT');
  return ended;
}

export const RECORDS: readonly Case[] = [
  { line: 'batch status out' },
  translated('all done', 'batch status out --all', async () => {}),
  again(translated('all done', 'batch status out -o json', async () => {})),
  again(translated('nothing changed', IN_OUT, async () => {})),
  again(translated('nothing changed', `${IN_OUT} --dry-run`, async () => {})),
  failed('SOURCE_UNREACHABLE', 'batch status out'),
  again(failed('SOURCE_UNREACHABLE', 'batch retry out --dry-run')),
  {
    line: 'batch retry out',
    when: 'the input is gone',
    again: true,
    run: async (stage, words) => {
      await rm(stage.path('in/b.srt'));
      return stage.run(words);
    },
    unordered: true,
  },
  failed('SUBTITLE_INVALID', 'batch status out'),
  ...[
    'batch status out -o ndjson',
    'batch retry out',
    'batch report out',
    'batch report out --format junit',
    'batch report out --out in/a.srt',
    'batch report out --out out/a.es.srt',
    'translate in --from en --to es --out out --skip-existing',
    'translate in --from en --to es --out out --dry-run',
  ].map((line) => again(failed('SUBTITLE_INVALID', line))),
  {
    line: 'batch retry out',
    when: 'the input came from stdin',
    before: async (stage) => {
      stage.engines.failNext(new JobFailure('SOURCE_UNREACHABLE', 'it broke'));
      await stage.run('translate - --from en --to es --out out', { stdin: SRT });
    },
  },
  translated('the result changed', IN_OUT, (stage) => stage.write('out/a.es.srt', 'mine')),
  translated('a record is damaged', 'batch status out', damage),
  again(translated('a record is damaged', IN_OUT, damage)),
  translated('the records are cut off', IN_OUT, (stage) => truncate(stage.path(DATABASE), 300)),
  {
    line: IN_OUT,
    when: 'the job is gone at the service, its result never came',
    files: FILES,
    before: async (stage) => {
      const { clock } = await useOwnService(stage);
      await finishUnfetched(stage);
      clock.advance(8 * 24 * 3_600_000);
    },
  },
  {
    line: IN_OUT,
    when: 'another vloc works there',
    files: { ...FILES, 'b.srt': SRT },
    before: async (stage) => {
      stage.engines.hold();
      stage.start(['translate', 'b.srt', '--from', 'en', '--to', 'es', '--out', 'out']);
      await untilShown(stage);
    },
  },
  // What stops a run
  {
    line: 'translate in --from en --to es --out out --max-credits 1 --jobs 1',
    files: { 'in/a.srt': SRT, 'in/b.srt': `${SRT}\n` },
    unordered: true,
  },
  {
    line: 'translate in --from en --to es --out out --dry-run --max-credits 1',
    files: { 'in/a.srt': SRT, 'in/b.srt': `${SRT}\n` },
  },
  {
    line: `${IN_OUT} --timeout 1h`,
    files: FILES,
    before: async (stage) => {
      stage.engines.hold();
      const { stdout } = await stage.run(`${IN_OUT} --detach -o id`);
      await untilHeld(stage, stdout.trim());
    },
    run: timeOut,
  },
  { line: IN_OUT, when: 'Ctrl-C', files: FILES, run: interrupt },
  {
    line: IN_OUT,
    when: 'the job fails',
    files: FILES,
    before: async (stage) => stage.engines.failNext(new JobFailure('SUBTITLE_INVALID', 'line 1 is empty')),
  },
  {
    line: IN_OUT,
    when: 'the job fails without a reason that is known',
    files: FILES,
    before: async (stage) => stage.engines.failNext(new Error('it broke')),
  },
  { line: TRANSLATE, when: 'done', files: FILES },
  // Jobs by their ids
  {
    line: 'jobs cancel JOB',
    when: 'it has ended',
    before: finishJob,
  },
  {
    line: 'jobs wait JOB',
    when: 'it was cancelled',
    before: async (stage) => {
      stage.engines.hold();
      const id = await makeJob(stage);
      await prepare(stage, `jobs cancel ${id}`);
      stage.fill('JOB', id);
    },
  },
  {
    line: 'jobs download JOB',
    when: 'it still runs',
    before: holdJob,
  },
  {
    line: 'translate JOB --from en --to es',
    when: 'a job that still runs',
    before: holdJob,
  },
  {
    line: 'jobs download JOB --out out',
    when: 'the file is there',
    files: { 'out/job.es.srt': 'mine' },
    before: finishJob,
  },
  { line: 'jobs download --all-finished --out out', before: (stage) => useOwnService(stage) },
];
