import { expect, it, onTestFinished } from 'vitest';
import { createMovableClock } from '../../../src/service/control/clock.ts';
import { createReadiness } from '../../../src/service/operate/health.ts';
import { createEngineLoader, startService } from '../../../src/service/start.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createSmallEngines } from '../harness/small-engines.ts';

it('a storage that hangs keeps its last state for five seconds, and delays no answer', async () => {
  const clock = createMovableClock();
  const options = { stateDir: makeFolder(), engines: createSmallEngines(), clock };
  const { service, context } = await startService(options, createEngineLoader(options.engines));
  onTestFinished(() => {
    clock.resume();
    return service.close();
  });
  clock.freeze();
  let hangs = false;
  let asked = 0;
  const storage = {
    ...context.storage,
    check() {
      asked += 1;
      return hangs ? new Promise<void>(() => {}) : context.storage.check();
    },
  };
  // Shared, so that only the storage is tried: a look at the disk could still write when the folder goes.
  const check = createReadiness({ ...context, storage, isShared: true });
  const ok = { status: 'ok', database: 'ok', storage: 'ok', queue: 'ok' };
  expect(await check()).toEqual(ok);

  hangs = true;
  clock.advance(1000);
  const slow = check();
  await expect.poll(() => asked).toBe(2);
  clock.advance(500);
  expect(await slow).toEqual(ok);
  clock.advance(5000);
  const late = check();
  clock.advance(500);
  expect(await late).toEqual({ ...ok, status: 'degraded', storage: 'the files cannot be written' });
  // It is not asked again while it hangs.
  expect(asked).toBe(2);
});
