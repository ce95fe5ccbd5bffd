/** Nodes of one service with roles, which share a database, a state folder and a clock. */
import { onTestFinished } from 'vitest';
import type { Capabilities } from '../../src/engines/engine.ts';
import { createMovableClock, type MovableClock } from '../../src/service/control/clock.ts';
import { createWorker, type LogEntry, type ServiceOptions, type Worker } from '../../src/service/index.ts';
import { openPostgresAccount } from '../../src/service/store/open-postgres.ts';
import type { Store } from '../../src/service/store/store.ts';
import { type Scene, startScene, TRANSLATION, until } from '../service/harness/scene.ts';
import { createSmallEngines, type SmallEngines } from '../service/harness/small-engines.ts';
import { makeFolder } from '../support/make-folder.ts';
import { freshAccount, type PostgresServer } from '../support/postgres.ts';

/** The body of a translation into a language. */
export const translation = (target = 'es') => ({ ...TRANSLATION, target_language: target });

interface StartedWorker {
  readonly worker: Worker;
  readonly engines: SmallEngines;
  readonly logged: LogEntry[];
}

export interface Fleet {
  readonly database: string;
  readonly stateDir: string;
  readonly clock: MovableClock;
  /** Another connection to the account. */
  readonly store: Store;
  /** Starts a node that answers requests. */
  startApi(options?: Partial<ServiceOptions>): Promise<Scene>;
  /** Starts a worker that can translate from English into these languages, or do everything. */
  startWorker(targets?: readonly string[], options?: Partial<ServiceOptions>): Promise<StartedWorker>;
  /** Moves the time as it passes: in steps in which all nodes say that they are alive. */
  pass(ms: number): Promise<void>;
}

/** The engines of a worker with few languages. */
function enginesFor(targets: readonly string[]): SmallEngines {
  const engines = createSmallEngines();
  const able = engines.capabilities.bind(engines);
  return Object.assign(engines, {
    async capabilities(): Promise<Capabilities> {
      const all = await able();
      return { ...all, translate: targets.map((to) => ({ from: 'en', to })) };
    },
  });
}

/** Less than a lease: each node says once in a step that it is alive, and none seems to have been away. */
const STEP_MS = 11_000;

export async function openFleet(server: Pick<PostgresServer, 'url'>): Promise<Fleet> {
  const common = {
    database: freshAccount(server),
    stateDir: makeFolder(),
    clock: createMovableClock(),
  };
  const store = await openPostgresAccount(common.database, common.stateDir, Date.now);
  onTestFinished(() => store.close());
  const countLate = async () =>
    (
      await store.get<{ late: number }>(
        'SELECT count(*) AS late FROM nodes WHERE stopped_at IS NULL AND seen_at < ?',
        common.clock.now(),
      )
    )?.late;
  return {
    ...common,
    store,
    startApi: (options = {}) => startScene({ ...common, role: 'api', ...options }),
    async startWorker(targets, options = {}) {
      const engines = targets === undefined ? createSmallEngines() : enginesFor(targets);
      const logged: LogEntry[] = [];
      const worker = await createWorker({
        ...common,
        engines,
        log: (entry) => logged.push(entry),
        ...options,
      });
      onTestFinished(() => worker.close());
      return { worker, engines, logged };
    },
    async pass(ms) {
      common.clock.freeze();
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        common.clock.advance(STEP_MS);
        await until(countLate, (late) => late === 0);
      }
      common.clock.resume();
    },
  };
}
