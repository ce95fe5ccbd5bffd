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

/** Around each need in the list of those that are skipped. Needs do not contain it. */
const MARK = '|';

/**
 * Creates leases on the rows of one table. Keys take turns: the next row is of the key with the fewest leased rows, among
 * these of the key whose last lease is longest ago. So a thousand rows of one key do not hold up the single row of another.
 * @param owner of the leases, unique for every process
 * @param ability returns what this process can do now; its result is asked about each row that says what it needs
 */
export function createLeases(
  store: Store,
  { table, open, firstBy, needs }: LeasedRows,
  owner: string,
  ability: () => Promise<CanDo> = async () => () => true,
): Leases {
  // A lease of this process also expires unless it is in `held`: the store may have failed after recording the claim.
  const find = `
    SELECT id, lease_owner AS "takenFrom", ${table}.key_id AS "keyId", ${needs ?? 'NULL'} AS needs FROM ${table}
    LEFT JOIN (
      SELECT key_id, count(*) AS leased FROM ${table} WHERE ${open} AND lease_until > ?1 GROUP BY key_id
    ) AS busy ON busy.key_id = ${table}.key_id
    LEFT JOIN turns ON turns.queue = '${table}' AND turns.key_id = ${table}.key_id
    WHERE ${open} AND run_after <= ?1 AND (lease_owner IS NULL OR (?2 = 1 AND lease_until <= ?1))
      ${needs === undefined ? '' : `AND (needs IS NULL OR replace(?4, '${MARK}' || needs || '${MARK}', '') = ?4)`}
    ORDER BY coalesce(leased, 0), coalesce(taken_at, 0), ${firstBy} LIMIT ?3`;
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
  return {
    async claim(now, takeOver, held) {
      const canDo = await ability();
      const look = async (reader: Statements) => {
        const skipped = new Set<string>();
        for (;;) {
          // One more row than those that must be skipped.
          const values = [now, takeOver ? 1 : 0, held.length + 1];
          const list = [...skipped].map((each) => MARK + each + MARK).join('');
          const rows = await reader.all<Row>(find, ...values, ...(needs === undefined ? [] : [list]));
          const row = rows.find(({ id }) => !held.includes(id));
          if (row === undefined || row.needs === null || canDo(row.needs)) return row;
          skipped.add(row.needs);
        }
      };
      // A read needs no lock, and usually there is nothing to lease.
      if ((await look(store)) === undefined) return null;
      return store.transaction(async (tx) => {
        const row = await look(tx);
        if (row === undefined) return null;
        const taken = await tx.get<Omit<Lease, 'takenFrom'>>(take, owner, now + LEASE_MS, row.id);
        if (taken === undefined) return null;
        await tx.run(turn, row.keyId, now);
        return { ...taken, takenFrom: row.takenFrom };
      });
    },
    renew: async (id, now) => (await store.run(renew, now + LEASE_MS, id, owner)) === 1,
    async release(id, { runAfter, counted }) {
      await store.run(release, runAfter, counted ? 0 : 1, id, owner);
    },
  };
}
