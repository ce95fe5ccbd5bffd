import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LeaseLost } from '../../../src/service/running/worker.ts';
import { startScene, TRANSLATION, until, untilJob } from '../harness/scene.ts';

test('cancelling a running job stops its work and removes its files', async () => {
  const { caller, engines, stateDir } = await startScene();
  engines.hold();
  const created = await caller.post('/v1/subtitle-translations', TRANSLATION);
  await untilJob(caller, created.json, 'processing');
  await until(() => engines.begun.length === 1);
  expect((await caller.delete(created.json.detail_url)).status).toBe(202);
  expect(engines.begun[0]?.reason).toBeInstanceOf(LeaseLost);
  await until(async () => (await readdir(join(stateDir, 'work'))).length === 0);
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
