/** A node of a cluster in a process of its own, to be killed. Its orders are the JSON of its argument. */
import pg from 'pg';
import { createEngines, createService, createWorker, type ServiceOptions } from '../../src/service/index.ts';
import type { ClusterMoment, ClusterOrders, ClusterWord } from './cluster-orders.ts';

const { database, stateDir, role, openJobs } = JSON.parse(process.argv[2] ?? '') as ClusterOrders; // of cluster-nodes.ts

/** It returns what it gets, after long enough for a kill to hit it. */
const translate = [{ type: 'command', run: ['sh', '-c', 'sleep 0.4; cat'], languages: ['en', 'es'] }];

/** The moment of the next end of a job at which this process kills itself. */
let dieAt: ClusterMoment | null = null;
const dieIf = (moment: ClusterMoment) => {
  if (dieAt === moment) process.kill(process.pid, 'SIGKILL');
};

const finishing = new WeakSet<object>();
const query = pg.Client.prototype.query;
/** Sees all statements. The settled bill is in the transaction that ends a job. */
pg.Client.prototype.query = function watched(this: pg.Client, ...args: unknown[]) {
  const [statement] = args;
  const text = typeof statement === 'string' ? statement : String(Object(statement).text);
  if (text.includes('INSERT INTO ledger')) {
    finishing.add(this);
    dieIf('before the ledger');
  }
  const isCommit = text === 'COMMIT' && finishing.delete(this);
  if (isCommit) dieIf('before the commit');
  const answer = Reflect.apply(query, this, args);
  return isCommit ? Promise.resolve(answer).finally(() => dieIf('after the commit')) : answer;
} as typeof query; // the same for its callers

const options: ServiceOptions = {
  database,
  stateDir,
  role,
  engines: await createEngines({ config: { translate } }),
  // Every job is computed.
  config: { workers: 4, concurrentTasks: openJobs, stageCacheBytes: 0 },
};
const say = (word: ClusterWord) => process.send?.(word);
process.on('message', (moment: ClusterMoment) => {
  dieAt = moment;
});
// The process that started it is gone.
process.on('disconnect', () => process.exit());
if (role === 'worker') {
  await createWorker(options);
  say({ api: null });
} else {
  const service = await createService(options);
  const [credentials] = await service.keys();
  if (credentials === undefined) throw new Error('the service has no key');
  say({ api: { url: service.url, credentials } });
}
