/** A service in a process of its own, to be killed. Its orders are the JSON of its argument. */

import { createMovableClock } from '../../src/service/control/clock.ts';
import { createService } from '../../src/service/index.ts';
import { createLightEngines } from './light-engines.ts';
import type { Orders, Word } from './orders.ts';
import { createRandom } from './random.ts';

const orders = JSON.parse(process.argv[2] ?? '') as Orders; // written by `life.ts` alone
const random = createRandom(orders.seed);
const clock = createMovableClock();
clock.advance(orders.aheadMs);
const service = await createService({
  stateDir: orders.stateDir,
  clock,
  allowLoopback: true,
  metricsFrom: ['127.0.0.1'],
  config: { concurrentTasks: orders.openJobs, workers: orders.workers },
  ...(orders.engines === 'real' ? {} : { engines: createLightEngines(random, orders.engines) }),
});
if (orders.faults > 0) {
  const { breakStore } = await import('./faulty-store.ts');
  breakStore(random, orders.faults);
}
const say = (word: Word) => process.send?.(word);
process.on('message', (advanceMs: number) => {
  clock.advance(advanceMs);
  say({ type: 'advanced' });
});
// The process that started it has ended.
process.on('disconnect', () => process.exit());
const [credentials] = await service.keys();
if (credentials === undefined) throw new Error('the service has no key');
say({ type: 'ready', pid: process.pid, url: service.url, credentials });
