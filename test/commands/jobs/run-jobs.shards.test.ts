import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { makeFolder as makeOutputFolder } from '../../../src/base/folder.ts';
import { shardOf } from '../../../src/batch/records/shard.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { until } from '../../service/harness/scene.ts';
import type { TestIoOptions } from '../../support/test-io.ts';
import { QUICK, startVloc, type VlocScene } from '../support/run-vloc.ts';

const SRT = (text: string) => `1\n00:00:00,000 --> 00:00:01,000\n${text}\n`;
const NAMES = [1, 2, 3, 4].map((lesson) => `lesson-${lesson}.srt`);
/** Names of the shards of two, by the hash of their names. */
const [FIRST = [], SECOND = []] = [1, 2].map((index) => NAMES.filter((name) => shardOf(name, 2) === index));
const TRANSLATE = ['translate', 'in', '--from', 'en', '--to', 'es'];

/** A folder `in` with these subtitles. */
async function startShards(names: readonly string[] = NAMES) {
  const vloc = await startVloc();
  await makeOutputFolder(join(vloc.folder, 'in'));
  for (const name of names) await writeFile(join(vloc.folder, 'in', name), SRT(name));
  return vloc;
}

/** What makes a run one of another machine: it shares neither slots nor records with others. */
function machine({ folder }: VlocScene, name: string): TestIoOptions {
  return { env: { VLOC_STATE_DIR: join(folder, `state-${name}`) }, pace: QUICK };
}

async function jobsOf({ caller }: VlocScene) {
  const { data } = (await caller.get('/v1/subtitle-translations?limit=50')).json;
  return data;
}

const resultsIn = async (folder: string) =>
  (await readdir(folder)).filter((name) => name.endsWith('.srt')).sort();

const resultsOf = (names: readonly string[]) => names.map((name) => name.replace('.srt', '.es.srt'));

test('the names of these tests belong to both shards', () => {
  expect([FIRST.length > 1, SECOND.length > 1]).toEqual([true, true]);
});

describe('three concurrent machines', () => {
  it('process each item once, into folders of their own that are one batch', async () => {
    const vloc = await startShards();
    const runs = await Promise.all(
      [1, 2, 3].map((index) =>
        vloc.run(
          [...TRANSLATE, '--out', `out-${index}`, '--shard', `${index}/3`, '-o', 'json'],
          machine(vloc, String(index)),
        ),
      ),
    );
    expect(runs.map(({ code, stderr }) => [code, stderr.includes('failed')])).toEqual([
      [0, false],
      [0, false],
      [0, false],
    ]);
    const made = await Promise.all([1, 2, 3].map((index) => resultsIn(join(vloc.folder, `out-${index}`))));
    expect(made.flat().sort()).toEqual(resultsOf(NAMES));
    const jobs = await jobsOf(vloc);
    expect(jobs).toHaveLength(NAMES.length);
    const balance = (await vloc.caller.get('/v1/credit-transactions?limit=50')).json.data;
    expect(balance.filter(({ amount }: { amount: number }) => amount < 0)).toHaveLength(NAMES.length);

    const status = await vloc.run(['batch', 'status', 'out-1', 'out-2', 'out-3']);
    expect([status.code, status.stdout]).toEqual([
      0,
      expect.stringMatching(/^STATE +ITEMS\ndone +4\n\nSHARD +MACHINE/),
    ]);
    const journal = join('out-2', '.vloc', 'shard-2-of-3', 'records.db');
    const kept = await vloc.run(['batch', 'report', 'out-1', 'out-2', '--out', journal]);
    expect([kept.code, kept.stderr]).toEqual([2, expect.stringContaining('is the journal of this batch')]);
  });
});

describe('shards in one folder of results', () => {
  it('exclude a second run of the same shard, and runs with another n, before anything is sent', async () => {
    const vloc = await startShards();
    vloc.engines.hold();
    const running = vloc.run([...TRANSLATE, '--out', 'out', '--shard', '1/2']);
    await until(async () => (await jobsOf(vloc)).length === FIRST.length);
    const same = await vloc.run([...TRANSLATE, '--out', 'out', '--shard', '1/2'], machine(vloc, 'other'));
    expect([same.code, same.stderr]).toEqual([
      7,
      expect.stringMatching(/another vloc works in .*out on shard 1\/2: process/),
    ]);
    const refuseOther = async (...words: string[]) => {
      const refused = await vloc.run([...TRANSLATE, '--out', 'out', ...words], machine(vloc, 'other'));
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringMatching(/has records of runs with --shard i\/2.*\n.*Finish with --shard i\/2/s),
      ]);
    };
    await refuseOther('--shard', '1/3');
    vloc.engines.letGo();
    expect((await running).code).toBe(0);
    await refuseOther();
    await refuseOther('--dry-run');
    expect(await jobsOf(vloc)).toHaveLength(FIRST.length);
  });

  it('are refused in a folder of a run without --shard', async () => {
    const vloc = await startShards(NAMES.slice(0, 1));
    await vloc.run([...TRANSLATE, '--out', 'out']);
    const refused = await vloc.run([...TRANSLATE, '--out', 'out', '--shard', '1/2']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('Leave --shard out')]);
    expect(await jobsOf(vloc)).toHaveLength(1);
  });

  it('do not treat the jobs of each other as lost ones, even of files with the same bytes', async () => {
    const vloc = await startShards([]);
    for (const name of NAMES) await writeFile(join(vloc.folder, 'in', name), SRT('the same'));
    // A dub, since remembered translations need no job.
    for (const index of [1, 2]) {
      const ended = await vloc.run(['dub', 'in', '--to', 'es', '--out', 'out', '--shard', `${index}/2`]);
      expect([ended.code, ended.stderr]).toEqual([0, expect.not.stringMatching(/lost|found again|damaged/)]);
    }
    expect((await vloc.caller.get('/v1/dubbings?limit=50')).json.data).toHaveLength(4);
  });

  it('do not use the results of each other as inputs', async () => {
    const vloc = await startShards();
    const words = ['translate', '.', '--from', 'en', '--to', 'es', '--name', '{stem}-{id}{ext}'];
    const options = { cwd: join(vloc.folder, 'in') };
    for (const index of [1, 2]) {
      const ended = await vloc.run([...words, '--shard', `${index}/2`], options);
      expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('of 4 items')]);
    }
    expect(await jobsOf(vloc)).toHaveLength(NAMES.length);
  });
});

test('batch retry runs what failed in each shard with the command of that shard', async () => {
  const vloc = await startShards();
  const failures = Array.from({ length: 2 }, () => new JobFailure('SUBTITLE_INVALID', 'it cannot be read'));
  for (const index of [1, 2]) {
    vloc.engines.failNext(...failures.slice(1));
    const ended = await vloc.run([...TRANSLATE, '--out', `out-${index}`, '--shard', `${index}/2`]);
    expect(ended.code).toBe(3);
  }
  const folders = ['out-1', 'out-2'];
  expect((await vloc.run(['batch', 'status', ...folders])).code).toBe(3);
  const listed = await vloc.run(['batch', 'retry', ...folders, '--all', '--dry-run', '-o', 'json']);
  expect(JSON.parse(listed.stdout).data).toHaveLength(2);
  const retried = await vloc.run(['batch', 'retry', ...folders, '--all']);
  expect(retried.code, retried.stderr).toBe(0);
  expect(await jobsOf(vloc)).toHaveLength(NAMES.length + 2);
  expect((await vloc.run(['batch', 'status', ...folders])).code).toBe(0);
});

test('a shard without items is done, so that a matrix of CI runners stays green', async () => {
  const vloc = await startShards(['a.srt']);
  const own = shardOf('a.srt', 2);
  const none = await vloc.run([...TRANSLATE, '--out', 'out', '--shard', `${3 - own}/2`]);
  expect([none.code, none.stdout]).toEqual([0, '']);
  expect(none.stderr).toContain(
    `Shard ${3 - own}/2: 0 of 1 items; there is nothing to do, since all belong to other shards.`,
  );
  const early = await vloc.run(['batch', 'status', 'out']);
  expect([early.code, early.stderr]).toEqual([8, expect.stringContaining(`Shard ${own}/2 has not run here`)]);
  expect((await vloc.run([...TRANSLATE, '--out', 'out', '--shard', `${own}/2`])).code).toBe(0);
  expect((await vloc.run(['batch', 'status', 'out'])).code).toBe(0);
});

test('--dry-run shows the items of the shard, and how many there are in total', async () => {
  const vloc = await startShards();
  const words = [...TRANSLATE, '--dry-run', '--shard', '2/2'];
  const table = await vloc.run(words);
  expect([table.code, table.stderr]).toEqual([
    0,
    expect.stringContaining(`Shard 2/2: ${SECOND.length} of 4 items.`),
  ]);
  const { stdout } = await vloc.run([...words, '-o', 'json']);
  expect(JSON.parse(stdout)).toMatchObject({ shard: '2/2', items_of_all_shards: 4, jobs: SECOND.length });
  expect(await jobsOf(vloc)).toEqual([]);
});

test('a shard with a single result on stdout is refused', async () => {
  const vloc = await startShards();
  const single = await vloc.run([...TRANSLATE, '--out', '-', '--shard', '1/2']);
  expect([single.code, single.stderr]).toEqual([
    2,
    expect.stringContaining('--out - and --shard cannot be combined'),
  ]);
});
