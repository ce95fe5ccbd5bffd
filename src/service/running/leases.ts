/**
 * Leases on rows that represent work. Several processes share the store. When a process dies, its leases expire and
 * another process takes over. Source: contract, "Jobs".
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Store } from '../store/store.ts';

export interface Lease {
  readonly id: string;
  /** From 1. Attempts during which the process died do not count: it is rarely the fault of the work. */
  readonly attempt: number;
  /** How often a process died while it worked on the row. */
  readonly crashes: number;
  /** Name of the process that died while it worked on the row, if this lease takes over from it; else null. */
  readonly takenFrom: string | null;
}

export interface Leases {
  /**
   * Leases the next row, or returns null.
   * @param takeOver whether to look for rows whose lease has expired, which go first, because they wait longest
   * @param held ids of rows that this process works on; they are skipped, even if their renewal is late
   */
  claim(now: number, takeOver: boolean, held: readonly string[]): Promise<Lease | null>;
  /** Renews the leases of these rows in one statement. Returns the ids of those that this process still holds. */
  renew(ids: readonly string[], now: number): Promise<ReadonlySet<string>>;
  /** Releases a row, to be started again at `runAfter`. `counted` is false if the attempt must not count. */
  release(id: string, options: { runAfter: number; counted: boolean }): Promise<void>;
}

/** Returns a name for this process as an owner of leases, unique also among those that will have its number. */
export function nameOwner(): string {
  return `${process.pid}-${randomUUID()}@${hostname()}`;
}

/** Returns the number of a process, and its machine if that is another one. */
export function describeOwner(owner: string): string {
  const [, pid = owner, host = ''] = /^(\d+)-[^@]*@?(.*)$/.exec(owner) ?? [];
  return host === '' || host === hostname() ? pid : `${pid} on ${host}`;
}

/** How often a lease is renewed. Also how soon a worker detects that another process cancelled its job. */
export const RENEW_MS = 1500;
/**
 * Eight renewals: a busy process keeps its work. Others look for it every second, so that the work of a dead process waits
 * less than 15 s, also on busy machines.
 */
export const LEASE_MS = 12_000;

/** The rows to lease. */
export interface LeasedRows {
  readonly table: 'jobs' | 'uploads' | 'deliveries';
  /** SQL condition for rows with unfinished work. */
  readonly open: string;
  /** The rows of one key are leased in the order of this column. */
  readonly firstBy: 'created_at' | 'run_after';
  /** The column that says what a row needs of the process that works on it; omitted: any process can do it. */
  readonly needs?: 'needs';
}

/** Returns whether this process can do what a row needs. */
export type CanDo = (needs: string) => boolean;

/** A row that may be leased. */
interface Candidate {
  readonly id: string;
  readonly keyId: string;
  readonly needs: string | null;
  /** Null: it waits. */
  readonly takenFrom: string | null;
}

/**
 * Finds the first waiting rows of up to four keys: first the key with the fewest leased rows, among these the key whose last
 * lease is longest ago. Four, because another process may be faster with the first. Counting more than 16 leased rows of a
 * key would take longer than the rest. Parameters: the time, then each of the needs to skip.
 *
 * It reads one waiting row of each key by the index `TABLE_waiting`, and some leased rows by `TABLE_leased`. The conditions
 * are in a CASE because PostgreSQL takes them for rare, and would sort all waiting rows instead of using the index.
 */
function findWaiting(rows: LeasedRows, skipped: number): string {
  const { table, open, firstBy } = rows;
  const needs = rows.needs ?? 'NULL';
  const list = Array.from({ length: skipped }, (_, at) => `?${at + 2}`).join(', ');
  const isPossible = skipped === 0 ? '' : ` AND (${needs} IS NULL OR ${needs} NOT IN (${list}))`;
  return `
    WITH firsts AS MATERIALIZED (
      SELECT keys.id AS key_id, (
        SELECT id FROM ${table} WHERE key_id = keys.id AND ${open} AND lease_owner IS NULL
          AND CASE WHEN run_after <= ?1${isPossible} THEN 1 ELSE 0 END <> 0
        ORDER BY ${firstBy} LIMIT 1
      ) AS id FROM keys
    )
    SELECT found.id, found.key_id AS "keyId", ${needs} AS needs, NULL AS "takenFrom"
    FROM firsts JOIN ${table} AS found ON found.id = firsts.id
    LEFT JOIN turns ON turns.queue = '${table}' AND turns.key_id = firsts.key_id
    ORDER BY (
        SELECT count(*) FROM (
          SELECT 1 FROM ${table} WHERE key_id = firsts.key_id AND ${open} AND lease_owner IS NOT NULL AND lease_until > ?1
          LIMIT 16
        ) AS counted
      ), coalesce(taken_at, 0), found.${firstBy} LIMIT 4`;
}

/** Finds the rows whose lease has expired, the one that expired first at the beginning. The parameter is the time. */
function findExpired({ table, open, needs }: LeasedRows): string {
  return `
    SELECT id, key_id AS "keyId", ${needs ?? 'NULL'} AS needs, lease_owner AS "takenFrom" FROM ${table}
    WHERE ${open} AND lease_owner IS NOT NULL AND lease_until <= ?1 AND run_after <= ?1 ORDER BY lease_until`;
}

/**
 * Creates leases on the rows of one table. Keys take turns, so that a thousand rows of one key do not hold up the single row
 * of another.
 * @param owner of the leases, unique for every process
 * @param ability returns what this process can do now; its result is asked about each row that says what it needs
 */
export function createLeases(
  store: Store,
  rows: LeasedRows,
  owner: string,
  ability: () => Promise<CanDo> = async () => () => true,
): Leases {
  const { table, open } = rows;

  const take = async ({ id, keyId, takenFrom }: Candidate, now: number): Promise<Lease | null> => {
    const [taken] = await store.transaction(
      (tx) =>
        Promise.all([
          tx.get<Omit<Lease, 'takenFrom'>>(
            `UPDATE ${table} SET lease_owner = ?, lease_until = ?,
               attempts = attempts + CASE WHEN lease_owner IS NULL THEN 1 ELSE 0 END,
               crashes = crashes + CASE WHEN lease_owner IS NULL THEN 0 ELSE 1 END
             WHERE id = ? AND ${open} AND coalesce(lease_owner, '') = ? AND coalesce(lease_until, 0) <= ? AND run_after <= ?
             RETURNING id, attempts AS attempt, crashes`,
            ...[owner, now + LEASE_MS, id, takenFrom ?? '', now, now],
          ),
          // Also if another process was faster: it has just leased a row of this key.
          tx.run(
            `INSERT INTO turns (queue, key_id, taken_at) VALUES ('${table}', ?, ?)
             ON CONFLICT (queue, key_id) DO UPDATE SET taken_at = excluded.taken_at`,
            ...[keyId, now],
          ),
        ]),
      'lease',
    );
    return taken === undefined ? null : { ...taken, takenFrom };
  };

  const claimExpired = async (now: number, held: readonly string[], canDo: CanDo): Promise<Lease | null> => {
    for (const row of await store.all<Candidate>(findExpired(rows), now)) {
      if (held.includes(row.id) || (row.needs !== null && !canDo(row.needs))) continue;
      const lease = await take(row, now);
      if (lease !== null) return lease;
    }
    return null;
  };

  const claimWaiting = async (now: number, canDo: CanDo): Promise<Lease | null> => {
    const skipped: string[] = [];
    for (;;) {
      const found = await store.all<Candidate>(findWaiting(rows, skipped.length), now, ...skipped);
      if (found.length === 0) return null;
      for (const row of found) {
        if (row.needs !== null && !canDo(row.needs)) {
          // Another row of its key may come before the others.
          skipped.push(row.needs);
          break;
        }
        const lease = await take(row, now);
        if (lease !== null) return lease;
      }
    }
  };

  return {
    async claim(now, takeOver, held) {
      const canDo = await ability();
      const expired = takeOver ? await claimExpired(now, held, canDo) : null;
      return expired ?? claimWaiting(now, canDo);
    },
    async renew(ids, now) {
      if (ids.length === 0) return new Set();
      const renewed = await store.all<{ id: string }>(
        `UPDATE ${table} SET lease_until = ? WHERE lease_owner = ? AND ${open} AND id IN (${ids.map(() => '?').join(', ')})
         RETURNING id`,
        ...[now + LEASE_MS, owner, ...ids],
      );
      return new Set(renewed.map(({ id }) => id));
    },
    async release(id, { runAfter, counted }) {
      await store.run(
        `UPDATE ${table} SET lease_owner = NULL, lease_until = NULL, run_after = ?, attempts = attempts - ?
         WHERE id = ? AND lease_owner = ? AND ${open}`,
        ...[runAfter, counted ? 0 : 1, id, owner],
      );
    },
  };
}
