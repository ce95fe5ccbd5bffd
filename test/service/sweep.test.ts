import { mkdirSync, utimesSync } from 'node:fs';
import { mkdir, readdir, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createMovableClock } from '../../src/service/control/clock.ts';
import { DUBBING, readySource, startScene, until, untilJob } from './harness/scene.ts';
import {
  createJob,
  only,
  passUntilDelivered,
  readRows,
  startReceiver,
} from './outgoing/webhooks/receiver.ts';

const DAY_MS = 86_400_000;

test('files without a record are removed after two hours, younger ones are kept', async () => {
  const { stateDir, clock } = await startScene();
  const old = new Date(Date.now() - 3 * 3_600_000);
  for (const folder of ['uploads', 'assets', 'stages', 'work']) {
    await mkdir(join(stateDir, folder, 'old'));
    await utimes(join(stateDir, folder, 'old'), old, old);
    await writeFile(join(stateDir, folder, 'young'), '');
  }
  clock.advance(60_000);
  for (const folder of ['uploads', 'assets', 'stages', 'work']) {
    const left = await until(
      () => readdir(join(stateDir, folder)),
      (names) => names.length === 1,
    );
    expect(left).toEqual(['young']);
  }
});

test('a sweep removes all expired records, in transactions of 500', async () => {
  const { clock, stateDir } = await startScene();
  const file = new DatabaseSync(join(stateDir, 'service.sqlite'), { timeout: 5000 });
  onTestFinished(() => file.close());
  file.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1201)
    INSERT INTO idempotency SELECT (SELECT id FROM keys LIMIT 1), n, 'POST', '/v1/dubbings', '', 202, 'dub_a', 1 FROM numbers`);
  clock.advance(60_000);
  await until(() => file.prepare('SELECT count(*) AS count FROM idempotency').get()?.count === 0);
});

test('what expires during a sweep is removed when that sweep ends, not a minute later', async () => {
  const { caller, clock, stateDir } = await startScene();
  const { json: job } = await caller.post('/v1/dubbings', DUBBING);
  await untilJob(caller, job, 'succeeded');
  // The results expire in 30 s. The first sweep, which keeps them, is running when the second one is due.
  clock.advance(DAY_MS - 30_000);
  clock.advance(60_000);
  // No other sweep follows by itself.
  clock.freeze();
  await until(async () => (await readdir(join(stateDir, 'assets'))).length === 0);
  clock.resume();
});

test('a start removes what expired while no service ran, and a start right after it does not', async () => {
  const first = await startScene();
  const source = await readySource(first.caller);
  const done = await first.caller.post('/v1/audio-separations', { source });
  await untilJob(first.caller, done.json, 'succeeded');
  await first.service.close();
  const list = async () => [
    ...(await readdir(join(first.stateDir, 'uploads'))),
    ...(await readdir(join(first.stateDir, 'assets'))),
  ];
  expect(await list()).toHaveLength(2);

  const clock = createMovableClock();
  // A start takes seconds on a busy machine.
  clock.freeze();
  const runBriefly = async () => {
    const scene = await startScene({ stateDir: first.stateDir, clock });
    await scene.service.close();
  };
  // The results expire after a day, the upload after seven.
  clock.advance(DAY_MS);
  await runBriefly();
  expect(await list()).toHaveLength(1);
  clock.advance(6 * DAY_MS - 20_000);
  await runBriefly();
  expect(await list()).toHaveLength(1);
  clock.advance(20_000);
  await runBriefly();
  expect(await list()).toHaveLength(1);
  clock.advance(10_000);
  await runBriefly();
  expect(await list()).toEqual([]);
});

test('files that have expired are removed although no record can be written', async () => {
  const { caller, clock, stateDir } = await startScene();
  const source = await readySource(caller);
  const other = await readySource(caller);
  expect(other.upload_id).not.toBe(source.upload_id);
  const done = await caller.post('/v1/audio-separations', { source });
  await untilJob(caller, done.json, 'succeeded');
  const spy = vi.spyOn(StatementSync.prototype, 'run').mockImplementation(() => {
    throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
  });
  onTestFinished(() => spy.mockRestore());
  clock.advance(7 * DAY_MS);
  await until(
    async () => [...(await readdir(join(stateDir, 'uploads'))), ...(await readdir(join(stateDir, 'assets')))],
    (names) => names.length === 0,
  );
  spy.mockRestore();
  // The records follow with the next sweep.
  clock.advance(60_000);
  const file = new DatabaseSync(join(stateDir, 'service.sqlite'), { timeout: 5000 });
  onTestFinished(() => file.close());
  await until(
    () =>
      file.prepare('SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM uploads) AS count').get()
        ?.count,
    (count) => count === 0,
  );
});

test('a clock that was set back does not stop the sweeps', async () => {
  const ahead = createMovableClock();
  ahead.advance(400 * DAY_MS);
  const { stateDir, service } = await startScene({ clock: ahead });
  await service.close();
  await mkdir(join(stateDir, 'assets', 'orphan'));
  await utimes(join(stateDir, 'assets', 'orphan'), new Date(0), new Date(0));
  await (await startScene({ stateDir })).service.close();
  expect(await readdir(join(stateDir, 'assets'))).toEqual([]);
});

test('files of an attempt are removed immediately when its job has ended, and kept while it is open', async () => {
  const { caller, clock, stateDir } = await startScene({ config: { workers: 0 } });
  const open = (await caller.post('/v1/dubbings', DUBBING)).json;
  const cancelled = (await caller.post('/v1/dubbings', DUBBING)).json;
  await caller.delete(cancelled.detail_url);
  for (const folder of ['work', 'assets']) {
    await mkdir(join(stateDir, folder, `${open.id}-a`));
    await utimes(join(stateDir, folder, `${open.id}-a`), new Date(0), new Date(0));
    await mkdir(join(stateDir, folder, `${cancelled.id}-a`));
  }
  clock.advance(60_000);
  for (const folder of ['work', 'assets']) {
    const left = await until(
      () => readdir(join(stateDir, folder)),
      (names) => names.length === 1,
    );
    expect(left).toEqual([`${open.id}-a`]);
  }
});

test('a result that another process records during a sweep is kept', async () => {
  const { caller, clock, stateDir } = await startScene({ config: { workers: 0 } });
  const { id } = (await caller.post('/v1/dubbings', DUBBING)).json;
  const folder = `${id}-a`;
  await mkdir(join(stateDir, 'assets', folder));
  const old = join(stateDir, 'work', 'old');

  const other = new DatabaseSync(join(stateDir, 'service.sqlite'));
  onTestFinished(() => other.close());
  const { get } = StatementSync.prototype;
  const spy = vi.spyOn(StatementSync.prototype, 'get').mockImplementation(function (
    this: StatementSync,
    ...values: Parameters<typeof get>
  ) {
    const row = get.apply(this, values);
    // Right after the sweep has looked for this folder.
    if (values.some((value) => value === folder)) {
      other.prepare(`UPDATE jobs SET status = 'succeeded', folder = ? WHERE id = ?`).run(folder, id);
      // The same sweep removes it, after the results.
      mkdirSync(old, { recursive: true });
      utimesSync(old, 0, 0);
    }
    return row;
  });
  onTestFinished(() => spy.mockRestore());
  clock.advance(60_000);
  await until(() => other.prepare('SELECT folder FROM jobs').get()?.folder === folder);
  await until(async () => (await readdir(join(stateDir, 'work'))).length === 0);
  expect(other.prepare('SELECT folder FROM jobs').get()).toEqual({ folder });
  expect(await readdir(join(stateDir, 'assets'))).toEqual([folder]);
});

test('a job that expired while no service ran is ended by the next one, not run', async () => {
  const idle = await startScene({ config: { workers: 0 } });
  await idle.caller.post('/v1/dubbings', DUBBING);
  await idle.service.close();
  const clock = createMovableClock();
  clock.advance(7 * DAY_MS);
  const scene = await startScene({ stateDir: idle.stateDir, clock });
  expect((await scene.caller.get('/v1/credits')).json).toMatchObject({
    reserved_credits: 0,
    balance_credits: 100_000,
  });
  expect(scene.engines.begun).toEqual([]);
});

test('a file that a running job needs is kept although its upload has expired', async () => {
  const { caller, clock, engines, stateDir } = await startScene({ config: { jobDeadlineMs: 20 * DAY_MS } });
  const source = await readySource(caller);
  clock.advance(5 * DAY_MS);
  engines.hold();
  const created = await caller.post('/v1/audio-separations', { source });
  expect(created.status).toBe(202);
  clock.advance(2 * DAY_MS);
  expect((await caller.get(`/v1/uploads/${source.upload_id}`)).status).toBe(404);
  // A sweep ends with the files that no record names: when this one is removed, the upload was skipped.
  await writeFile(join(stateDir, 'assets', 'orphan'), '');
  await utimes(join(stateDir, 'assets', 'orphan'), new Date(0), new Date(0));
  await until(
    () => {
      clock.advance(60_000);
      return readdir(join(stateDir, 'assets'));
    },
    (names) => names.length === 0,
  );
  expect(await readdir(join(stateDir, 'uploads'))).toHaveLength(1);
  engines.letGo();
  await until(
    () => {
      clock.advance(60_000);
      return readdir(join(stateDir, 'uploads'));
    },
    (names) => names.length === 0,
  );
});

test.each([
  ['queued', { workers: 0 }],
  ['processing', { workers: 1, jobDeadlineMs: 20 * DAY_MS }],
])('a webhook reports a job that is still %s after seven days', async (state, config) => {
  const receiver = await startReceiver();
  const scene = await startScene({ allowLoopback: true, config });
  const { caller, clock, engines } = scene;
  engines.hold();
  const { id, detail_url } = await createJob(scene, receiver.url);
  await untilJob(caller, { detail_url }, state);
  expect((await caller.get('/v1/credits')).json.reserved_credits).toBe(1);
  clock.advance(7 * DAY_MS);
  await until(
    async () => {
      clock.advance(60_000);
      return (await caller.get('/v1/credits')).json.reserved_credits;
    },
    (reserved) => reserved === 0,
  );
  await passUntilDelivered(scene, receiver, 1);
  expect(JSON.parse(only(receiver).body)).toMatchObject({
    type: 'subtitle_translation.failed',
    data: { id, status: 'failed', client_reference: 'lesson 1' },
  });
  // A job fails only from processing, so also this one has started.
  const database = new DatabaseSync(join(scene.stateDir, 'service.sqlite'), { readOnly: true });
  expect(database.prepare('SELECT started_at FROM jobs').get()?.started_at).not.toBeNull();
  database.close();
  expect((await caller.get('/v1/credits')).json).toMatchObject({
    reserved_credits: 0,
    balance_credits: 100_000,
  });
  expect((await caller.get(detail_url)).status).toBe(404);
});

test('the record of a job waits for its event, but for no more than a day', async () => {
  const receiver = await startReceiver(503);
  const scene = await startScene({ allowLoopback: true, config: { workers: 0, webhookSlots: 0 } });
  await createJob(scene, receiver.url);
  const sweepAfter = async (ms: number) => {
    scene.clock.advance(ms);
    // A sweep ends with the files that no record names: when this one is gone, the records were looked at.
    const orphan = join(scene.stateDir, 'orphan');
    await writeFile(orphan, '');
    await utimes(orphan, new Date(0), new Date(0));
    await rename(orphan, join(scene.stateDir, 'assets', 'orphan'));
    await until(
      () => {
        scene.clock.advance(60_000);
        return readdir(join(scene.stateDir, 'assets'));
      },
      (names) => names.length === 0,
    );
    return readRows(scene.stateDir).length;
  };
  expect(await sweepAfter(7 * DAY_MS)).toBe(1);
  expect(await sweepAfter(DAY_MS / 2)).toBe(1);
  expect(await sweepAfter(DAY_MS / 2)).toBe(0);
});
