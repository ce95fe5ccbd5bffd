import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createMovableClock } from '../../../src/service/control/clock.ts';
import { createProgress } from '../../../src/service/jobs/execution.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createCaller } from '../harness/caller.ts';
import { readySource, type Scene, startScene, TRANSLATION, until, untilJob } from '../harness/scene.ts';
import { createSmallEngines } from '../harness/small-engines.ts';
import { changeStore } from '../harness/stores.ts';

async function createTranslation({ caller }: Scene) {
  return (await caller.post('/v1/subtitle-translations', TRANSLATION)).json;
}

/** Moves time on in steps in which leases are still renewed, past those of others, until the job has ended. */
function untilEnded({ caller, clock }: Scene, job: { detail_url: string }) {
  return until(
    async () => {
      clock.advance(4000);
      return (await caller.get(job.detail_url)).json;
    },
    ({ status }) => status !== 'queued' && status !== 'processing',
  );
}

test('an engine that fails three times fails the job, with a message without the secrets of the machine', async () => {
  const scene = await startScene();
  scene.engines.failNext(...Array.from({ length: 3 }, () => new Error('/a/secret/path is broken')));
  const job = await untilEnded(scene, await createTranslation(scene));
  expect(job).toMatchObject({ status: 'failed', error: { code: 'ENGINE_ERROR', retryable: true } });
  expect(job.error.message).not.toContain('secret');
  expect(scene.engines.begun).toHaveLength(3);
  expect(scene.logged.filter((entry) => entry.level === 'error')).toMatchObject([{ resourceId: job.id }]);
});

test('a job that three times lacks room on a disk that has room for others fails for that reason', async () => {
  const scene = await startScene();
  scene.engines.failNext(
    ...Array.from({ length: 3 }, () => Object.assign(new Error('no space left'), { code: 'ENOSPC' })),
  );
  const job = await untilEnded(scene, await createTranslation(scene));
  expect(job.error.code).toBe('STORAGE_ERROR');
});

test('a job without an end is stopped at its deadline', async () => {
  const scene = await startScene({ config: { jobDeadlineMs: 3_600_000 } });
  scene.clock.freeze();
  scene.engines.hold();
  const created = await createTranslation(scene);
  await until(() => scene.engines.begun.length === 1);
  scene.clock.advance(3_599_000);
  expect((await scene.caller.get(created.detail_url)).json.status).toBe('processing');
  scene.clock.advance(1000);
  const job = await untilJob(scene.caller, created, 'failed');
  expect(job.error).toMatchObject({ code: 'DEADLINE_EXCEEDED', retryable: true });
});

test('no more jobs run concurrently than there are workers', async () => {
  const scene = await startScene({ config: { workers: 2 } });
  scene.engines.hold();
  const jobs = await Promise.all(Array.from({ length: 5 }, () => createTranslation(scene)));
  await until(() => scene.engines.begun.length === 2);
  const states = (await scene.caller.get('/v1/subtitle-translations')).json.data.map(
    (item: { status: string }) => item.status,
  );
  expect(states.sort()).toEqual(['processing', 'processing', 'queued', 'queued', 'queued']);
  scene.engines.letGo();
  for (const job of jobs) await untilJob(scene.caller, job, 'succeeded');
});

test('a service that closes returns its jobs to the queue, and the attempt does not count', async () => {
  const stateDir = makeFolder();
  let id = '';
  for (let round = 0; round < 4; round += 1) {
    const scene = await startScene({ stateDir });
    scene.engines.hold();
    id ||= (await createTranslation(scene)).id;
    await until(() => scene.engines.begun.length === 1);
    await scene.service.close();
    expect(scene.engines.begun[0]?.aborted).toBe(true);
    expect(await readdir(join(stateDir, 'work'))).toEqual([]);
  }
  const last = await startScene({ stateDir });
  const job = await untilJob(last.caller, { detail_url: `/v1/subtitle-translations/${id}` }, 'succeeded');
  expect(job.billing.charged_credits).toBe(1);
});

test('the jobs of a process that is killed are taken over, from their uploads on, and charged once', async () => {
  const stateDir = makeFolder();
  const host = spawn(process.execPath, [join(import.meta.dirname, '../harness/crash-host.ts'), stateDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    host.kill('SIGKILL');
  });
  const [line] = await once(createInterface(host.stdout), 'line');
  const { url, credentials } = JSON.parse(String(line));
  const caller = createCaller(url, credentials, Date.now);
  const source = await readySource(caller, 30);
  const body = { source, target_language: 'es' };
  const created = (await caller.post('/v1/auto-localizations', body)).json;
  await untilJob(caller, created, 'processing');
  // The folder comes just after the state.
  await until(async () => (await readdir(join(stateDir, 'work'))).length === 1);
  const ended = once(host, 'exit');
  host.kill('SIGKILL');
  await ended;

  const scene = await startScene({ stateDir });
  const before = await scene.caller.get(created.detail_url);
  expect(before.json).toMatchObject({ status: 'processing', billing: { status: 'reserved' } });
  const job = await untilEnded(scene, created);
  expect(job).toMatchObject({ status: 'succeeded', billing: { status: 'settled', charged_credits: 1 } });
  expect((await scene.caller.get('/v1/credits')).json).toMatchObject({
    balance_credits: 99_999,
    reserved_credits: 0,
  });
  await scene.service.close();
  expect(await readdir(join(stateDir, 'work'))).toEqual([]);
});

test('a process that lost its job to another does not touch the other’s result', async () => {
  const slow = await startScene();
  slow.engines.hold();
  const created = await createTranslation(slow);
  await until(() => slow.engines.begun.length === 1);
  // The other process is a minute ahead: for it the lease has expired.
  const ahead = createMovableClock();
  ahead.advance(60_000);
  const quick = await startScene({ stateDir: slow.stateDir, clock: ahead });
  const job = await untilJob(quick.caller, created, 'succeeded');
  slow.engines.letGo();
  await until(async () => (await readdir(join(slow.stateDir, 'work'))).length === 0);
  await until(async () => (await readdir(join(slow.stateDir, 'assets'))).length === 1);
  const { json } = await quick.caller.get(created.detail_url);
  expect(json.result).toEqual(job.result);
  expect((await quick.caller.get('/v1/credit-transactions')).json.data).toHaveLength(1);
});

test('after the sleep of a laptop jobs continue where they are, in both processes', async () => {
  const clock = createMovableClock();
  const one = await startScene({ clock });
  one.engines.hold();
  const first = await createTranslation(one);
  const begunBy = (scene: Scene) =>
    until(
      () => scene.engines.begun.length,
      (count) => count === 1,
    );
  await begunBy(one);
  const other = await startScene({ clock, stateDir: one.stateDir, config: { workers: 2 } });
  other.engines.hold();
  clock.advance(3_600_000);
  clock.advance(1500);
  clock.advance(1500);
  const second = await createTranslation(other);
  await until(() => one.engines.begun.length + other.engines.begun.length === 2);
  one.engines.letGo();
  other.engines.letGo();
  await untilJob(one.caller, first, 'succeeded');
  await untilJob(one.caller, second, 'succeeded');
  expect([...one.engines.begun, ...other.engines.begun].map((signal) => signal.aborted)).toEqual([
    false,
    false,
  ]);
});

function failing(error: Error) {
  const engines = createSmallEngines();
  engines.failNext(error);
  return engines;
}

/** Leaves the job as a process does that dies while it works on it. */
function dieUnder(stateDir: string, { attempts, crashes }: { attempts: number; crashes: number }): void {
  const died = `status = 'processing', lease_owner = '4711-died', lease_until = 0`;
  changeStore(stateDir, `UPDATE jobs SET ${died}, attempts = ${attempts}, crashes = ${crashes}`);
}

test('a crash of the service is not an attempt of the job, and the log says what happened', async () => {
  const idle = await startScene({ config: { workers: 0 } });
  const created = await createTranslation(idle);
  dieUnder(idle.stateDir, { attempts: 3, crashes: 8 });
  const left = [
    join(idle.stateDir, 'work', `${created.id}-a`),
    join(idle.stateDir, 'assets', `${created.id}-a`),
  ];
  for (const folder of left) await mkdir(folder);

  const scene = await startScene({ stateDir: idle.stateDir });
  const job = await untilJob(scene.caller, created, 'succeeded');
  expect(job.billing.charged_credits).toBe(1);
  expect(scene.logged.filter(({ level }) => level === 'warn')).toMatchObject([
    {
      level: 'warn',
      resourceId: job.id,
      message: expect.stringMatching(/process 4711 died .* \(9 of at most 10/),
    },
  ]);
  // What the dead process left behind is gone, however recent it is. A service that closes first finishes its own work.
  await scene.service.close();
  expect(await readdir(join(idle.stateDir, 'work'))).toEqual([]);
  expect(await readdir(join(idle.stateDir, 'assets'))).toHaveLength(1);
});

test('the deadline of a job waits while no service runs, and the rest of it still counts', async () => {
  const config = { jobDeadlineMs: 3_600_000 };
  const first = await startScene({ config });
  first.engines.hold();
  const created = await createTranslation(first);
  await until(() => first.engines.begun.length === 1);
  await first.service.close();

  const clock = createMovableClock();
  clock.advance(5 * 3_600_000);
  const second = await startScene({ stateDir: first.stateDir, clock, config });
  second.engines.hold();
  await until(() => second.engines.begun.length === 1);
  clock.advance(3_000_000);
  expect((await second.caller.get(created.detail_url)).json.status).toBe('processing');
  clock.advance(600_001);
  const job = await untilJob(second.caller, created, 'failed');
  expect(job.error.code).toBe('DEADLINE_EXCEEDED');
});

test('attempts that fail still count after a crash', async () => {
  const idle = await startScene({ config: { workers: 0 } });
  const created = await createTranslation(idle);
  dieUnder(idle.stateDir, { attempts: 3, crashes: 0 });
  const scene = await startScene({ stateDir: idle.stateDir, engines: failing(new Error('broken')) });
  const job = await untilJob(scene.caller, created, 'failed');
  expect(job.error).toMatchObject({ code: 'ENGINE_ERROR', message: expect.stringContaining('3 attempts') });
});

test('a job under which the service died ten times is not started again', async () => {
  const idle = await startScene({ config: { workers: 0 } });
  const created = await createTranslation(idle);
  dieUnder(idle.stateDir, { attempts: 1, crashes: 9 });
  const scene = await startScene({ stateDir: idle.stateDir });
  const job = await untilJob(scene.caller, created, 'failed');
  expect(job.error).toMatchObject({
    code: 'ENGINE_ERROR',
    retryable: true,
    message: expect.stringContaining('the service died 10 times while it worked on this job'),
  });
  expect(job.billing.status).toBe('released');
  expect(scene.engines.begun).toEqual([]);
});

test('whatever an engine reports, the percentage rises, stays below 100 and is stored at most once a second', () => {
  const reports = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat({ max: 700 })));
  fc.assert(
    fc.property(reports, (sequence) => {
      let now = 0;
      const written: { percent: number; at: number }[] = [];
      const report = createProgress((percent) => written.push({ percent, at: now }), { now: () => now });
      for (const [fraction, wait] of sequence) {
        report(fraction);
        now += wait;
      }
      written.forEach(({ percent, at }, index) => {
        const before = written[index - 1];
        expect(percent).toBeLessThanOrEqual(99);
        if (before === undefined) return;
        expect(percent).toBeGreaterThan(before.percent);
        expect(at - before.at).toBeGreaterThanOrEqual(1000);
      });
    }),
  );
});

test('a new stage is stored immediately', () => {
  const written: [number, string | null][] = [];
  const report = createProgress((percent, stage) => written.push([percent, stage]), { now: () => 0 });
  report(0.1, 'separating');
  report(0.15, 'separating');
  report(0.2, 'recognizing');
  report(0.05, 'dubbing');
  expect(written).toEqual([
    [10, 'separating'],
    [20, 'recognizing'],
    [20, 'dubbing'],
  ]);
});
