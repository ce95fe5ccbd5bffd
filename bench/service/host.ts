/** The built service in a process of its own, so that whoever measures it does not share its event loop. */
import { createMovingClock } from '../../test/service/harness/moving-clock.ts';
import { createSmallEngines } from '../../test/service/harness/small-engines.ts';

/** By a variable: the build is not there yet when types are checked. */
const built: string = '../../dist/service.js';
const { createService } = await import(built);

/** More than any bench sends: what is measured are requests, not refusals. */
const WITHOUT_LIMIT = 1e9;

const [stateDir = ''] = process.argv.slice(2);
const clock = createMovingClock();
const service = await createService({
  stateDir,
  clock,
  engines: createSmallEngines(),
  config: {
    // Jobs stay queued: their work would take the time of the requests.
    workers: 0,
    concurrentTasks: WITHOUT_LIMIT,
    openingCredits: WITHOUT_LIMIT,
    rate: { requests: WITHOUT_LIMIT, windowSeconds: 60 },
  },
});
const [{ key, secret }] = service.keys();
process.send?.({ url: service.url, key, secret });
process.on('message', (advanceMs) => clock.advance(Number(advanceMs)));
process.on('disconnect', () => service.close());
