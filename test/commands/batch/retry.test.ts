import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readBatchRecords } from '../../../src/batch/report/read-batch.ts';
import { openBatchJournal } from '../../../src/batch/run/journal.ts';
import { main } from '../../../src/cli/main.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { until } from '../../service/harness/scene.ts';
import { createTestIo } from '../../support/test-io.ts';
import { QUICK, startVloc, type VlocScene } from '../support/run-vloc.ts';

const SRT = (text: string) => `1\n00:00:00,000 --> 00:00:01,000\n${text}\n`;
const COMMAND = ['translate', 'subs', '--from', 'en', '--to', 'es', '--out', 'out'];

/** Four files of subtitles, of other texts, since remembered ones need no job; the first failures are the given ones. */
async function startBatch(...errors: Error[]): Promise<VlocScene> {
  const vloc = await startVloc();
  await mkdir(join(vloc.folder, 'subs'));
  for (const name of ['a', 'b', 'c', 'd'])
    await writeFile(join(vloc.folder, 'subs', `${name}.srt`), SRT(name));
  vloc.engines.failNext(...errors);
  return vloc;
}

const lasting = () => new JobFailure('SUBTITLE_INVALID', 'it cannot be read');

async function stateCounts(vloc: VlocScene): Promise<Record<string, number>> {
  const { stdout } = await vloc.run(['batch', 'status', 'out', '-o', 'json']);
  const counts: Record<string, number> = JSON.parse(stdout).counts;
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

async function jobCount(vloc: VlocScene): Promise<number> {
  return (await vloc.caller.get('/v1/subtitle-translations?limit=50')).json.data.length;
}

test('only failed items run again, with the options and in the folder of their command, which then finds everything done', async () => {
  const vloc = await startBatch(lasting(), lasting());
  const first = await vloc.run(COMMAND);
  expect(first.code).toBe(3);
  expect(await stateCounts(vloc)).toEqual({ done: 2, failed: 2 });

  const nothing = await vloc.run(['batch', 'retry', 'out']);
  expect(nothing.code).toBe(3);
  expect(nothing.stderr).toContain('2 items failed permanently; nothing was sent');
  expect(nothing.stderr).toContain('run `vloc batch retry out --all`');
  expect(await jobCount(vloc)).toBe(4);

  await mkdir(join(vloc.folder, 'elsewhere'));
  const again = await vloc.run(['batch', 'retry', '../out', '--all', '-o', 'json'], {
    cwd: join(vloc.folder, 'elsewhere'),
  });
  expect(again.code, again.stderr).toBe(0);
  expect(JSON.parse(again.stdout).data).toHaveLength(2);
  expect(await stateCounts(vloc)).toEqual({ done: 4 });
  expect(await jobCount(vloc)).toBe(6);

  const third = await vloc.run(['batch', 'retry', 'out', '--all']);
  expect([third.code, third.stderr]).toEqual([0, expect.stringContaining('Nothing failed in out.')]);
  const { stdout } = await vloc.run(['batch', 'report', 'out', '-o', 'json']);
  expect(JSON.parse(stdout).commands).toMatchObject([{ argv: COMMAND, cwd: vloc.folder }]);
  const whole = await vloc.run(COMMAND);
  expect(whole.code, whole.stderr).toBe(0);
  expect(await jobCount(vloc)).toBe(6);
});

test('Ctrl-C prints the retry of a command with --fresh, which continues at no charge', async () => {
  const vloc = await startBatch(lasting(), lasting(), lasting());
  expect((await vloc.run([...COMMAND, '--fresh'])).code).toBe(3);
  vloc.engines.hold();
  const test = createTestIo({ cwd: vloc.folder, env: vloc.env, pace: QUICK });
  const running = main(['batch', 'retry', 'out', '--all'], test.io);
  await until(
    () => jobCount(vloc),
    (jobs) => jobs === 7,
  );
  test.send('SIGINT');
  expect(await running).toBe(130);
  expect(test.stderr()).toContain('  vloc batch retry out --all\n');
  vloc.engines.letGo();
  const { code, stderr } = await vloc.run(['batch', 'retry', 'out', '--all']);
  expect(code, stderr).toBe(0);
  expect(await stateCounts(vloc)).toEqual({ done: 4 });
  expect(await jobCount(vloc)).toBe(7);
  for (const name of ['a', 'b', 'c', 'd'])
    expect(existsSync(join(vloc.folder, 'out', `${name}.es.srt`)), name).toBe(true);
});

test('items that were never sent are reported with their command, and not paid by a retry', async () => {
  const vloc = await startBatch();
  const poor = await vloc.run([...COMMAND, '--max-credits', '2', '--jobs', '1']);
  expect(poor.code).toBe(6);
  const { code, stderr } = await vloc.run(['batch', 'retry', 'out']);
  expect(code).toBe(0);
  expect(stderr).toContain('2 items were not sent yet. Continue with:\n  vloc translate subs');
  expect(await jobCount(vloc)).toBe(2);
});

test('a recorded command that cannot be repeated is refused before anything is sent', async () => {
  const vloc = await startBatch(lasting());
  await vloc.run(COMMAND);
  const folder = join(vloc.folder, 'out');
  const [command] = (await readBatchRecords({ folder })).commands;
  if (command === undefined) throw new Error('a command ran');
  for (const [change, message] of [
    // A later version may have recorded it.
    [{ order: 'age' }, '--order cannot be "age"'],
    [{ filesFrom: '-' }, 'NOT_REPEATABLE'],
  ] as const) {
    const journal = await openBatchJournal({ folder });
    const options = { ...command.options, ...change };
    await journal.add({ ...command, options }).finally(() => journal.close());
    const { code, stderr } = await vloc.run(['batch', 'retry', 'out', '--all']);
    expect([change, code, stderr]).toEqual([change, 2, expect.stringContaining(message)]);
  }
  expect(await jobCount(vloc)).toBe(4);
});
