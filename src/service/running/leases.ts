/**
 * Leases on rows that represent work. Several processes share the store. When a process dies, its leases expire and
 * another process takes over. Source: contract, "Jobs".
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Statements, Store } from '../store/store.ts';

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
   * Leases the first waiting row, or returns null.
   * @param takeOver also rows whose lease has expired
   * @param held ids of rows that this process works on; they are skipped, even if their renewal is late
   */
  claim(now: number, takeOver: boolean, held: readonly string[]): Promise<Lease | null>;
  /** Renews a lease. Returns false if this process no longer holds it. */
  renew(id: string, now: number): Promise<boolean>;
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
  /** Of the rows of one key, that with the lowest value in this column goes first. */
  readonly firstBy: 'created_at' | 'run_after';
  /** The column that says what a row needs of the process that works on it; omitted: any process can do it. */
  readonly needs?: 'needs';
}

/** Tells whether this process can do what a row needs. */
export type CanDo = (needs: string) => boolean;

interface Row extends Pick<Lease, 'id' | 'takenFrom'> {
  readonly keyId: string;
  readonly needs: string | null;
}

/** Around each text in a list of those that are skipped. Ids and needs do not contain it. */
const MARK = '|';
const listOf = (texts: readonly string[]) => texts.map((text) => MARK + text + MARK).join('');

/**
 * Returns the statements that find rows to lease: any of them, and the next one. Their parameters are the time, 1 to take over rows
 * whose lease has expired, the list of rows to skip, and that of needs to skip.
 *
 * They read the leased rows and one waiting row of each key, not all that wait: the index `TABLE_waiting` has them by key and in order,
 * so that the first row of the next key is one step away.
 */
function searches({ table, open, firstBy, needs }: LeasedRows): { any: string; next: string } {
  const has = (list: string, text: string) =>
    `replace(${list}, '${MARK}' || ${text} || '${MARK}', '') <> ${list}`;
  const conditions = ['run_after <= ?1', `NOT ${has('?3', 'id')}`];
  if (needs !== undefined) conditions.push(`(needs IS NULL OR NOT ${has('?4', 'needs')})`);
  // PostgreSQL takes these conditions for rare and would sort all rows instead of walking through the index to the first that meets
  // them. That a number differs from 0 is usual for it.
  const isPossible = `CASE WHEN ${conditions.join(' AND ')} THEN 1 ELSE 0 END <> 0`;
  const needsOf = (of: string) => `${needs === undefined ? 'NULL' : `${of}.needs`} AS needs`;
  const columns = (of: string) => `${of}.id, ${of}.key_id, ${of}.${firstBy} AS first, ${needsOf(of)}`;
  const firstWaiting = (column: string, keys = '') => `(
      SELECT ${column} FROM ${table} WHERE ${open} AND lease_owner IS NULL AND ${isPossible} ${keys}
      ORDER BY key_id, ${firstBy} LIMIT 1)`;
  const any = `
    SELECT needs FROM ${firstWaiting(needsOf(table))} AS waiting
    UNION ALL
    SELECT needs FROM (
      SELECT ${needsOf(table)} FROM ${table}
      WHERE ${open} AND lease_owner IS NOT NULL AND ?2 = 1 AND lease_until <= ?1 AND ${isPossible}
      ORDER BY key_id LIMIT 1) AS leased`;
  const next = `
    WITH RECURSIVE leased AS MATERIALIZED (
      SELECT ${columns(table)}, run_after, lease_owner, lease_until
      FROM ${table} WHERE ${open} AND lease_owner IS NOT NULL
    ), waiting AS (
      SELECT ${columns(table)} FROM ${table} WHERE id = ${firstWaiting('id')}
      UNION ALL
      SELECT ${columns('next')}
      FROM waiting JOIN ${table} AS next ON next.id = ${firstWaiting('id', `AND ${table}.key_id > waiting.key_id`)}
    )
    SELECT id, "takenFrom", found.key_id AS "keyId", needs FROM (
      SELECT id, NULL AS "takenFrom", key_id, first, needs FROM waiting
      UNION ALL
      SELECT id, lease_owner, key_id, first, needs FROM leased WHERE ?2 = 1 AND lease_until <= ?1 AND ${isPossible}
    ) AS found
    LEFT JOIN (
      SELECT key_id, count(*) AS running FROM leased WHERE lease_until > ?1 GROUP BY key_id
    ) AS busy ON busy.key_id = found.key_id
    LEFT JOIN turns ON turns.queue = '${table}' AND turns.key_id = found.key_id
    ORDER BY coalesce(running, 0), coalesce(taken_at, 0), first LIMIT 1`;
  return { any, next };
}

/**
 * Creates leases on the rows of one table. Keys take turns: the next row is of the key with the fewest leased rows, among
 * these of the key whose last lease is longest ago. So a thousand rows of one key do not hold up the single row of another.
 * @param owner of the leases, unique for every process
 * @param ability returns what this process can do now; its result is asked about each row that says what it needs
 */
export function createLeases(
  store: Store,
  rows: LeasedRows,
  owner: string,
  ability: () => Promise<CanDo> = async () => () => true,
): Leases {
  const { table, open, needs } = rows;
  const { any, next } = searches(rows);
  const take = `
    UPDATE ${table} SET lease_owner = ?, lease_until = ?, attempts = attempts + CASE WHEN lease_owner IS NULL THEN 1 ELSE 0 END,
      crashes = crashes + CASE WHEN lease_owner IS NULL THEN 0 ELSE 1 END WHERE id = ?
    RETURNING id, attempts AS attempt, crashes`;
  const turn = `
    INSERT INTO turns (queue, key_id, taken_at) VALUES ('${table}', ?, ?)
    ON CONFLICT (queue, key_id) DO UPDATE SET taken_at = excluded.taken_at`;
  const renew = `UPDATE ${table} SET lease_until = ? WHERE id = ? AND lease_owner = ? AND ${open}`;
  const release = `
    UPDATE ${table} SET lease_owner = NULL, lease_until = NULL, run_after = ?, attempts = attempts - ?
    WHERE id = ? AND lease_owner = ? AND ${open}`;
  let mayHaveMore = false;
  return {
    async claim(now, takeOver, held) {
      const canDo = await ability();
      const skipped = new Set<string>();
      const look = async <Found extends Pick<Row, 'needs'>>(reader: Statements, search: string) => {
        for (;;) {
          const lists = needs === undefined ? [held] : [held, [...skipped]];
          const found = await reader.all<Found>(search, now, takeOver ? 1 : 0, ...lists.map(listOf));
          const row = found.find((each) => each.needs === null || canDo(each.needs));
          if (row !== undefined || found.length === 0) return row;
          for (const each of found) if (each.needs !== null) skipped.add(each.needs);
        }
      };
      // A read needs no lock, and usually there is nothing to lease, except after a row that was leased.
      if (!mayHaveMore && (await look(store, any)) === undefined) return null;
      mayHaveMore = false;
      return store.transaction(async (tx) => {
        const row = await look<Row>(tx, next);
        if (row === undefined) return null;
        const taken = await tx.get<Omit<Lease, 'takenFrom'>>(take, owner, now + LEASE_MS, row.id);
        if (taken === undefined) return null;
        await tx.run(turn, row.keyId, now);
        mayHaveMore = true;
        return { ...taken, takenFrom: row.takenFrom };
      });
    },
    renew: async (id, now) => (await store.run(renew, now + LEASE_MS, id, owner)) === 1,
    async release(id, { runAfter, counted }) {
      await store.run(release, runAfter, counted ? 0 : 1, id, owner);
    },
  };
}
