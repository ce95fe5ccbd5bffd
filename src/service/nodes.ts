/** The nodes of a service with a database: each says regularly that it is alive, and what its engines can do. */
import { hostname } from 'node:os';
import packageFile from '../../package.json' with { type: 'json' };
import type { Capabilities } from '../engines/engine.ts';
import type { Role } from '../protocol/roles.ts';
import { repeatWork } from './clock.ts';
import type { ServiceContext } from './context.ts';
import { LEASE_MS } from './running/leases.ts';
import type { Statements } from './store/store.ts';

export interface NodeRow {
  readonly id: string;
  readonly role: Role;
  readonly version: string;
  readonly host: string;
  /** Null for a node that carries out no jobs. */
  readonly capabilities: Capabilities | null;
  /** Jobs that it carries out now. */
  readonly running: number;
  readonly startedAt: number;
  readonly seenAt: number;
  /** When it was stopped in order, since when it takes no jobs; null while it runs, and after a crash. */
  readonly stoppedAt: number | null;
}

/** How often a node says that it is alive: three times in the life of a lease. */
const BEAT_MS = 5000;
/** How often a node looks for servers of engines that answer again, and for jobs that no worker can do. */
const CHECK_MS = 30_000;
/** Nodes that were not seen for a day are history. */
const KEPT_MS = 24 * 60 * 60_000;

/** Whether a node was alive a moment ago. Its leases end after the same time. */
export function isLive({ seenAt, stoppedAt }: NodeRow, now: number): boolean {
  return stoppedAt === null && seenAt > now - LEASE_MS;
}

/** Returns all nodes of the last day, the newest first. */
export async function readNodes(store: Statements): Promise<NodeRow[]> {
  const rows = await store.all<Omit<NodeRow, 'capabilities'> & { capabilities: string | null }>(
    `SELECT id, role, version, host, capabilities, running, started_at AS "startedAt", seen_at AS "seenAt",
       stopped_at AS "stoppedAt" FROM nodes ORDER BY started_at DESC, id DESC`,
  );
  return rows.map((row) => ({
    ...row,
    // Written by `announceNode`.
    capabilities: row.capabilities === null ? null : JSON.parse(row.capabilities),
  }));
}

const ANNOUNCE = `
  INSERT INTO nodes (id, role, version, host, capabilities, running, started_at, seen_at, stopped_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
  ON CONFLICT (id) DO UPDATE SET capabilities = excluded.capabilities, running = excluded.running,
    seen_at = excluded.seen_at, stopped_at = excluded.stopped_at`;

interface NodeParts {
  /** The same as the owner of its leases. */
  readonly id: string;
  /** Number of jobs that it carries out now. */
  readonly running: () => number;
  /** Capabilities of its engines; null: it carries out no jobs. */
  readonly capabilities: (() => Promise<Capabilities>) | null;
  /** Called regularly with the time for which this node has seen the others without a gap. */
  readonly check: (watchedMs: number) => Promise<void>;
}

interface AnnouncedNode {
  /** Capabilities of its engines when they were last asked. */
  readonly capabilities: () => Capabilities | null;
  /** Tells the others that it takes no more jobs. */
  leave(): Promise<void>;
  /** Tells the others that it stops. */
  stop(): Promise<void>;
}

/** Announces a node, then keeps it announced. Resolves when the others know it. */
export async function announceNode(context: ServiceContext, parts: NodeParts): Promise<AnnouncedNode> {
  const { store, clock, log, role, activity } = context;
  const startedAt = clock.now();
  let capabilities = (await parts.capabilities?.()) ?? null;
  let watchedSince = startedAt;
  let seenAt = startedAt;
  let leftAt: number | null = null;
  let failing = false;

  const announce = async () => {
    const now = clock.now();
    // It was suspended, or could not reach the store: what the others did meanwhile is not known.
    if (now - seenAt > LEASE_MS) watchedSince = now;
    const can = capabilities === null ? null : JSON.stringify(capabilities);
    const about = [parts.id, role, packageFile.version, hostname(), can, parts.running()];
    await store.run(ANNOUNCE, ...about, startedAt, now, leftAt);
    seenAt = now;
    activity.announcedAt = now;
  };
  const beat = async () => {
    try {
      await announce();
      failing = false;
    } catch (error) {
      if (!failing) log({ level: 'warn', message: 'this node is not announced; it is tried again', error });
      failing = true;
    }
  };
  // Apart from the beat, which must not wait for an engine that answers slowly.
  const check = async () => {
    try {
      capabilities = (await parts.capabilities?.()) ?? null;
      await store.run('DELETE FROM nodes WHERE seen_at < ?', clock.now() - KEPT_MS);
      if (!failing) await parts.check(seenAt - watchedSince);
    } catch (error) {
      if (!failing)
        log({ level: 'warn', message: 'waiting jobs were not checked; it is tried again', error });
    }
  };

  await announce();
  const stops = [repeatWork(clock, BEAT_MS, beat), repeatWork(clock, CHECK_MS, check)];
  return {
    capabilities: () => capabilities,
    leave() {
      leftAt = clock.now();
      return beat();
    },
    async stop() {
      await Promise.all(stops.map((stop) => stop()));
      try {
        await store.run('UPDATE nodes SET stopped_at = ?, running = 0 WHERE id = ?', clock.now(), parts.id);
      } catch (error) {
        log({ level: 'warn', message: 'the other nodes do not know that this one has stopped', error });
      }
    },
  };
}
