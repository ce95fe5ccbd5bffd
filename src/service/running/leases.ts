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
   * Leases the first waiting row, or returns null.
   * @param takeOver also rows whose lease has expired
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
  /** Of the rows of one key, that with the lowest value in this column goes first. */
  readonly firstBy: 'created_at' | 'run_after';
  /** The column that says what a row needs of the process that works on it; omitted: any process can do it. */
  readonly needs?: 'needs';
}

/** Tells whether this process can do what a row needs. */
export type CanDo = (needs: string) => boolean;

interface Row {
  readonly id: string;
  /** Null: it waits. */
  readonly takenFrom: string | null;
  readonly keyId: string;
  readonly needs: string | null;
}

/**
 * A key with so many leased rows counts like one with more; among these, the key whose last lease is longest ago goes first. Counting all
 * rows that 300 machines lease takes longer than the rest of a search.
 */
const MOST_COUNTED = 16;

/** Another process may be faster with the first row. Then the next one, usually of another key, needs no search. */
const CANDIDATES = 4;

/** Around each text in a list of those that are skipped. Ids and needs do not contain it. */
const MARK = '|';
const listOf = (texts: readonly string[]) => texts.map((text) => MARK + text + MARK).join('');

/**
 * Returns the statement that finds the next row to lease. Its parameters are the time, 1 to take over rows whose lease has expired, the
 * list of rows to skip, and that of needs to skip.
 *
 * It reads one waiting row of each key by the index `TABLE_waiting`, not all that wait, and some leased rows of these keys by
 * `TABLE_leased`.
 */
function searchFor({ table, open, firstBy, needs: column }: LeasedRows): string {
  const needs = column ?? 'NULL';
  // PostgreSQL takes these conditions for rare and would sort all rows instead of walking through the index to the first that meets
  // them. That a number differs from 0 is usual for it.
  const isPossible = `CASE WHEN run_after <= ?1 AND replace(?3, '${MARK}' || id || '${MARK}', '') = ?3
    AND (${needs} IS NULL OR replace(?4, '${MARK}' || ${needs} || '${MARK}', '') = ?4) THEN 1 ELSE 0 END <> 0`;
  return `
    WITH waiting AS MATERIALIZED (
      SELECT keys.id AS key_id, (
        SELECT id FROM ${table} WHERE key_id = keys.id AND ${open} AND lease_owner IS NULL AND ${isPossible}
        ORDER BY ${firstBy} LIMIT 1
      ) AS id FROM keys
    )
    SELECT ${table}.id, lease_owner AS "takenFrom", ${table}.key_id AS "keyId", ${needs} AS needs FROM (
      SELECT found.id, coalesce(taken_at, 0) AS turn, first, (
        SELECT count(*) FROM (
          SELECT 1 FROM ${table} WHERE key_id = found.key_id AND ${open} AND lease_owner IS NOT NULL AND lease_until > ?1
          LIMIT ${MOST_COUNTED}
        ) AS counted
      ) AS running FROM (
        SELECT key_id, id, (SELECT ${firstBy} FROM ${table} WHERE id = waiting.id) AS first FROM waiting WHERE id IS NOT NULL
        UNION ALL
        SELECT key_id, id, ${firstBy} FROM ${table}
        WHERE ${open} AND lease_owner IS NOT NULL AND ?2 = 1 AND lease_until <= ?1 AND ${isPossible}
      ) AS found
      LEFT JOIN turns ON turns.queue = '${table}' AND turns.key_id = found.key_id
      ORDER BY running, turn, first LIMIT ${CANDIDATES}
    ) AS best JOIN ${table} ON ${table}.id = best.id ORDER BY running, turn, first`;
}

/** Returns `?, ?, …` for so many values, rounded up to a power of 2, so that the database prepares few statements. */
function marksFor(count: number): string[] {
  return Array.from({ length: 2 ** Math.ceil(Math.log2(count)) }, () => '?');
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
  const { table, open } = rows;
  const next = searchFor(rows);
  const earliest = `SELECT min(lease_until) AS until FROM ${table} WHERE ${open} AND lease_owner IS NOT NULL`;
  const take = `
    UPDATE ${table} SET lease_owner = ?, lease_until = ?, attempts = attempts + CASE WHEN lease_owner IS NULL THEN 1 ELSE 0 END,
      crashes = crashes + CASE WHEN lease_owner IS NULL THEN 0 ELSE 1 END
    WHERE id = ? AND ${open} AND coalesce(lease_owner, '') = ? AND coalesce(lease_until, 0) <= ? AND run_after <= ?
    RETURNING id, attempts AS attempt, crashes`;
  const turn = `
    INSERT INTO turns (queue, key_id, taken_at) VALUES ('${table}', ?, ?)
    ON CONFLICT (queue, key_id) DO UPDATE SET taken_at = excluded.taken_at`;
  const release = `
    UPDATE ${table} SET lease_owner = NULL, lease_until = NULL, run_after = ?, attempts = attempts - ?
    WHERE id = ? AND lease_owner = ? AND ${open}`;
  /** No lease expires before this time, because renewals and new leases end later. */
  let nextExpiry = 0;

  const hasExpired = async (now: number) => {
    // More than a lease ahead: the clock was set back.
    if (now < nextExpiry && nextExpiry <= now + LEASE_MS) return false;
    const { until = null } = (await store.get<{ until: number | null }>(earliest)) ?? {};
    nextExpiry = Math.min(until ?? Number.POSITIVE_INFINITY, now + LEASE_MS);
    return nextExpiry <= now;
  };

  return {
    async claim(now, takeOver, held) {
      const canDo = await ability();
      const skipped = new Set<string>();
      const withExpired = takeOver && (await hasExpired(now)) ? 1 : 0;
      const look = async () => {
        for (;;) {
          const lists = [listOf(held), listOf([...skipped])];
          const rows = await store.all<Row>(next, now, withExpired, ...lists);
          const other = rows.find(({ needs }) => needs !== null && !canDo(needs));
          if (other?.needs == null) return rows;
          // Its key may have a row that comes before the others.
          if (other !== rows[0]) return rows.slice(0, rows.indexOf(other));
          skipped.add(other.needs);
        }
      };
      const lease = async (row: Row): Promise<Lease | null> => {
        const values = [owner, now + LEASE_MS, row.id, row.takenFrom ?? '', now, now];
        const [taken] = await store.transaction(
          (tx) =>
            Promise.all([
              tx.get<Omit<Lease, 'takenFrom'>>(take, ...values),
              // Also if another process was faster: it has just leased a row of this key.
              tx.run(turn, row.keyId, now),
            ]),
          'lease',
        );
        return taken === undefined ? null : { ...taken, takenFrom: row.takenFrom };
      };
      for (;;) {
        const rows = await look();
        if (rows.length === 0) return null;
        for (const row of rows) {
          const leased = await lease(row);
          if (leased !== null) return leased;
        }
      }
    },
    async renew(ids, now) {
      if (ids.length === 0) return new Set();
      const marks = marksFor(ids.length);
      const renewed = await store.all<{ id: string }>(
        `UPDATE ${table} SET lease_until = ? WHERE lease_owner = ? AND ${open} AND id IN (${marks}) RETURNING id`,
        now + LEASE_MS,
        owner,
        ...marks.map((_, at) => ids[at] ?? null),
      );
      return new Set(renewed.map(({ id }) => id));
    },
    async release(id, { runAfter, counted }) {
      await store.run(release, runAfter, counted ? 0 : 1, id, owner);
    },
  };
}
