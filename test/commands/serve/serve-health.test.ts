import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { until } from '../../service/harness/scene.ts';
import { changeStore } from '../../service/harness/stores.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { runMain, startMain } from '../../support/run-main.ts';

let stateDir = '';
beforeEach(async () => {
  stateDir = makeFolder();
});

async function health(...words: string[]) {
  return runMain(['serve', 'health', '--output', 'json', ...words], { env: { VLOC_STATE_DIR: stateDir } });
}

/** What a process leaves in the folder. */
async function writeReport(pid: number, status: string): Promise<string> {
  const path = join(stateDir, `health-${hostname()}-${pid}.json`);
  await writeFile(path, JSON.stringify({ pid, host: hostname(), status, node: 'n', role: 'worker' }));
  return path;
}

it('shows a running service, and nothing after its end', async () => {
  const serving = startMain(['serve', '--output', 'json'], { env: { VLOC_STATE_DIR: stateDir } });
  await until(health, ({ code }) => code === 0);
  const { stdout } = await health();
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ status: 'ok', role: 'all', running_jobs: 0, database: 'ok', storage: 'ok', queue: 'ok' },
    ...{ lease: null, pid: process.pid, host: hostname() },
  });
  serving.send('SIGTERM');
  expect((await serving.ended).code).toBe(0);
  const { code, stderr } = await health();
  expect([code, stderr]).toEqual([7, expect.stringContaining('SERVICE_NOT_RUNNING')]);
});

it('shows the present state also when the report of before cannot be replaced, as on a full disk', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const serving = startMain(['serve', '--output', 'json'], { env: { VLOC_STATE_DIR: stateDir } });
  await until(health, ({ code }) => code === 0);
  // No new file can be written under this name.
  await mkdir(join(stateDir, `health-${hostname()}-${process.pid}.json.new`));
  changeStore(stateDir, 'DROP TABLE secrets');
  const next = () => {
    vi.advanceTimersByTime(5000);
    return health();
  };
  const { stdout } = await until(next, ({ code }) => code === 7);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'failing', database: 'the store cannot be written' });
  serving.send('SIGTERM');
  await serving.ended;
});

it('exits with 7 for a process that cannot work; --live asks only whether it runs', async () => {
  await writeReport(process.pid, 'failing');
  expect((await health()).code).toBe(7);
  expect((await health('--live')).code).toBe(0);
  await writeReport(process.pid, 'degraded');
  expect((await health()).code).toBe(0);
});

it('exits with 7 for a process that hangs, and ignores what a dead one left', async () => {
  // No system has a process with this number: Linux has at most 2 ** 22.
  const dead = await writeReport(2 ** 30, 'ok');
  await utimes(dead, 0, 0);
  expect((await health('--live')).stderr).toContain('SERVICE_NOT_RUNNING');
  const path = await writeReport(process.pid, 'ok');
  await utimes(path, 0, 0);
  const { code, stderr } = await health('--live');
  expect([code, stderr]).toEqual([7, expect.stringContaining('has not reported for')]);
});
