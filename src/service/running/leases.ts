/**
 * Leases on rows that stand for work: several processes share the store, and the work of one that died is taken over
 * when its lease lapses. Source: contract, "Jobs".
 */
import type { Store } from '../store/store.ts';

export interface Lease {
  readonly id: string;
  /** From 1; beyond the permitted number the work must not be begun again. */
  readonly attempt: number;
}

export interface Leases {
  /**
   * Takes the first row that waits for somebody, or null.
   * @param takeOver also rows whose owner has let its lease lapse
   * @param held ids of rows that we work on: those are under way, however late their renewal
   */
  claim(now: number, takeOver: boolean, held: readonly string[]): Lease | null;
  /** Keeps a row; false when it is no longer ours to work on. */
  renew(id: string, now: number): boolean;
  /** Hands a row back to be begun again at `runAfter`; `counted` is false when the attempt was not its own fault. */
  release(id: string, options: { runAfter: number; counted: boolean }): void;
}

/** How often a lease is renewed: also how soon a worker notices that its job was cancelled by another process. */
export const RENEW_MS = 1500;
/** Ten renewals: a process that is busy for a while keeps its work, a dead one's waits no longer than this. */
export const LEASE_MS = 15_000;

/** Which rows are leased. */
export interface LeasedRows {
  readonly table: 'jobs' | 'uploads' | 'deliveries';
  /** Condition of the rows that stand for unfinished work. */
  readonly open: string;
  /** The row with the lowest value in this column goes first. */
  readonly firstBy: 'created_at' | 'run_after';
}

/**
 * Makes leases on the rows of one table.
 * @param owner of the leases, different for every process
 */
export function createLeases(store: Store, { table, open, firstBy }: LeasedRows, owner: string): Leases {
  // Our own lapses like that of others unless it is held: the store may have failed after it had noted the claim.
  const find = `
    SELECT id FROM ${table}
    WHERE ${open} AND run_after <= ?1 AND (lease_owner IS NULL OR (?2 AND lease_until <= ?1))
      AND id NOT IN (SELECT value FROM json_each(?3))
    ORDER BY ${firstBy} LIMIT 1`;
  const take = `
    UPDATE ${table} SET lease_owner = ?, lease_until = ?, attempts = attempts + 1 WHERE id = ?
    RETURNING id, attempts AS attempt`;
  const renew = `UPDATE ${table} SET lease_until = ? WHERE id = ? AND lease_owner = ? AND ${open}`;
  const release = `
    UPDATE ${table} SET lease_owner = NULL, lease_until = NULL, run_after = ?, attempts = attempts - ?
    WHERE id = ? AND lease_owner = ? AND ${open}`;
  return {
    claim(now, takeOver, held) {
      const holding = JSON.stringify(held);
      const look = () => store.get<{ id: string }>(find, now, takeOver ? 1 : 0, holding);
      // Looking takes no lock, and mostly there is nothing to take.
      if (look() === undefined) return null;
      return store.transaction(() => {
        const row = look();
        if (row === undefined) return null;
        return store.get<Lease>(take, owner, now + LEASE_MS, row.id) ?? null;
      });
    },
    renew: (id, now) => store.run(renew, now + LEASE_MS, id, owner) === 1,
    release: (id, { runAfter, counted }) => {
      store.run(release, runAfter, counted ? 0 : 1, id, owner);
    },
  };
}
