import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LeaseLost } from '../../../src/service/running/worker.ts';
import { startScene, until, untilJob } from '../harness/scene.ts';

const TRANSLATION = {
  subtitle: { type: 'lines', lines: [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }] },
  source_language: 'en',
  target_language: 'es',
};

test('cancelling a running job stops its work, frees its credits and keeps the record', async () => {
  const { caller, engines, stateDir } = await startScene();
  engines.hold();
  const created = await caller.post('/v1/subtitle-translations', TRANSLATION);
  await untilJob(caller, created.json, 'processing');
  await until(
    () => engines.begun.length,
    (count) => count === 1,
  );
  const cancelled = await caller.delete(created.json.detail_url);
  expect(cancelled.status).toBe(202);
  expect(cancelled.headers['idempotency-replayed']).toBe('false');
  expect(cancelled.json).toMatchObject({
    id: created.json.id,
    status: 'cancelled',
    billing: { status: 'released', charged_credits: 0 },
    result: null,
  });
  expect(engines.begun[0]?.reason).toBeInstanceOf(LeaseLost);
  await until(
    () => readdir(join(stateDir, 'work')),
    (folders) => folders.length === 0,
  );
  const { json } = await caller.get(created.json.detail_url);
  expect(json).toMatchObject({ status: 'cancelled', finished_at: cancelled.json.finished_at });
  expect((await caller.get('/v1/credits')).json).toMatchObject({
    reserved_credits: 0,
    balance_credits: 100_000,
  });
  expect((await caller.get('/v1/credit-transactions')).json.data).toEqual([]);
});

test('a waiting job is cancelled before it starts', async () => {
  const { caller, engines } = await startScene({ config: { workers: 1 } });
  engines.hold();
  await caller.post('/v1/subtitle-translations', TRANSLATION);
  const waiting = await caller.post('/v1/subtitle-translations', TRANSLATION);
  expect(waiting.json.status).toBe('queued');
  expect((await caller.delete(waiting.json.detail_url)).json.status).toBe('cancelled');
  engines.letGo();
  const third = await caller.post('/v1/subtitle-translations', TRANSLATION);
  await untilJob(caller, third.json, 'succeeded');
  expect(engines.begun).toHaveLength(2);
});

test('a job that has ended is not cancelled; a replay of the same DELETE is', async () => {
  const { caller, engines } = await startScene();
  const done = await caller.post('/v1/subtitle-translations', TRANSLATION);
  await untilJob(caller, done.json, 'succeeded');
  const late = await caller.delete(done.json.detail_url, 'late');
  expect([late.status, late.json.code]).toEqual([409, 'JOB_NOT_CANCELLABLE']);
  expect((await caller.delete(done.json.detail_url, 'late')).status).toBe(409);

  engines.hold();
  const { json } = await caller.post('/v1/subtitle-translations', TRANSLATION);
  expect((await caller.delete(json.detail_url, 'stop')).status).toBe(202);
  const replayed = await caller.delete(json.detail_url, 'stop');
  expect([replayed.status, replayed.headers['idempotency-replayed']]).toEqual([202, 'true']);
  expect((await caller.delete(json.detail_url, 'stop-again')).json.code).toBe('JOB_NOT_CANCELLABLE');
});

test('a cancel in one process stops the work of another within two seconds', async () => {
  const runner = await startScene();
  runner.clock.freeze();
  runner.engines.hold();
  const other = await startScene({ stateDir: runner.stateDir, config: { workers: 0 } });
  const { json } = await other.caller.post('/v1/subtitle-translations', TRANSLATION);
  await until(
    () => {
      runner.clock.advance(1000);
      return runner.engines.begun.length;
    },
    (count) => count === 1,
  );
  expect((await other.caller.delete(json.detail_url)).status).toBe(202);
  const [signal] = runner.engines.begun;
  expect(signal?.aborted).toBe(false);
  runner.clock.advance(2000);
  await nextTurn();
  expect(signal?.aborted).toBe(true);
});
