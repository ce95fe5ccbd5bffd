import { expect, it } from 'vitest';
import { startScene, TRANSLATION, until, untilJob } from './harness/scene.ts';

it('a job that is not finished in the time of the drain goes to the next process, as the same attempt', async () => {
  const { service, caller, engines, clock, stateDir, credentials } = await startScene({
    drainMs: 60_000,
  });
  engines.hold();
  const { json: job } = await caller.post('/v1/subtitle-translations', TRANSLATION);
  await until(() => engines.begun.length === 1);
  let isOver = false;
  const left = service.drain(new AbortController().signal).then(() => {
    isOver = true;
  });
  clock.advance(59_000);
  expect((await caller.get(job.detail_url)).json.status).toBe('processing');
  expect(isOver).toBe(false);
  clock.advance(1000);
  await left;
  expect(engines.begun[0]?.aborted).toBe(false);
  await service.close();
  expect(engines.begun[0]?.aborted).toBe(true);

  const next = await startScene({ stateDir });
  const own = next.callerFor(credentials);
  await untilJob(own, job, 'succeeded');
  expect(next.logged.map(({ message }) => message).join()).not.toContain('died');
});
