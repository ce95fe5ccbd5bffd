/** The built service in a separate process, so that it does not share the event loop of the measurement. */
import { createSmallEngines } from '../../test/service/harness/small-engines.ts';

/** In a variable, because the build does not exist yet when types are checked. */
const built: string = '../../dist/service.js';
const { createService } = await import(built);

/** More than any bench sends, because requests are measured, not refusals. */
const WITHOUT_LIMIT = 1e9;

const [stateDir = '', database = '', workers = '0'] = process.argv.slice(2);
const service = await createService({
  stateDir,
  engines: createSmallEngines(),
  ...(database === '' ? {} : { database }),
  config: {
    // By default jobs stay queued, because their work would slow down the requests.
    workers: Number(workers),
    concurrentTasks: WITHOUT_LIMIT,
    openingCredits: WITHOUT_LIMIT,
    rate: { requests: WITHOUT_LIMIT, windowSeconds: 60 },
  },
});
const [{ key, secret }] = await service.keys();
process.send?.({ url: service.url, key, secret });
process.on('disconnect', () => service.close());
