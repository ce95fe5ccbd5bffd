/**
 * Leases on rows that represent work. Several processes share the store. When a process dies, its leases expire and
 * another process takes over. Source: contract, "Jobs".
 */
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

/** How often a lease is renewed. Also how soon a worker detects that another process cancelled its job. */
export const RENEW_MS = 1500;
/** Ten renewals: a busy process keeps its work, and the work of a dead process waits no longer than this. */
export const LEASE_MS = 15_000;

/** The rows to lease. */
export interface LeasedRows {
  readonly table: 'jobs' | 'uploads' | 'deliveries';
  /** SQL condition for rows with unfinished work. */
  readonly open: string;
  /** The row with the lowest value in this column goes first. */
  readonly firstBy: 'created_at' | 'run_after';
}

type Row = Pick<Lease, 'id' | 'takenFrom'>;

/**
 * Creates leases on the rows of one table.
 * @param owner of the leases, unique for every process
 */
export function createLeases(store: Store, { table, open, firstBy }: LeasedRows, owner: string): Leases {
  // A lease of this process also expires unless it is in `held`: the store may have failed after recording the claim.
  const find = `
    SELECT id, lease_owner AS "takenFrom" FROM ${table}
    WHERE ${open} AND run_after <= ?1 AND (lease_owner IS NULL OR (?2 = 1 AND lease_until <= ?1))
    ORDER BY ${firstBy} LIMIT ?3`;
  const take = `
    UPDATE ${table} SET lease_owner = ?, lease_until = ?, attempts = attempts + CASE WHEN lease_owner IS NULL THEN 1 ELSE 0 END,
      crashes = crashes + CASE WHEN lease_owner IS NULL THEN 0 ELSE 1 END WHERE id = ?
    RETURNING id, attempts AS attempt, crashes`;
  const renew = `UPDATE ${table} SET lease_until = ? WHERE id = ? AND lease_owner = ? AND ${open}`;
  const release = `
    UPDATE ${table} SET lease_owner = NULL, lease_until = NULL, run_after = ?, attempts = attempts - ?
    WHERE id = ? AND lease_owner = ? AND ${open}`;
  return {
    async claim(now, takeOver, held) {
      // One more row than those that must be skipped.
      const look = async (reader: Statements) => {
        const rows = await reader.all<Row>(find, now, takeOver ? 1 : 0, held.length + 1);
        return rows.find(({ id }) => !held.includes(id));
      };
      // A read needs no lock, and usually there is nothing to lease.
      if ((await look(store)) === undefined) return null;
      return store.transaction(async (tx) => {
        const row = await look(tx);
        if (row === undefined) return null;
        const taken = await tx.get<Omit<Lease, 'takenFrom'>>(take, owner, now + LEASE_MS, row.id);
        return taken === undefined ? null : { ...taken, takenFrom: row.takenFrom };
      });
    },
    renew: async (id, now) => (await store.run(renew, now + LEASE_MS, id, owner)) === 1,
    async release(id, { runAfter, counted }) {
      await store.run(release, runAfter, counted ? 0 : 1, id, owner);
    },
  };
}
