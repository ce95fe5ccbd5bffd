import { expect, test } from 'vitest';
import { until } from '../../service/harness/scene.ts';
import { startStage } from './support/stage.ts';

/** More than run at a time, including those with slots. */
const MANY = 117;

test('the result of a finished job does not wait for the many items that have not started', async () => {
  const stage = await startStage();
  const items = stage.lines(MANY);
  const last = items.slice(-1);
  await stage.run(last, { options: { detach: true } });
  await until(async () => (await stage.books()).charged === 1);

  stage.engines.hold();
  const stop = new AbortController();
  const { phases } = await stage.run(items, {
    batch: {
      signal: stop.signal,
      listen: (event) => {
        if (event.type === 'item' && event.state.phase === 'done') stop.abort();
      },
    },
  });
  stage.engines.letGo();

  expect(phases).toEqual([...Array(MANY - 1).fill('left'), 'done']);
});
