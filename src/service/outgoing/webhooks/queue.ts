/** The events that wait to be delivered, as leases for a worker: what was due first goes first. */

import { LEASE_MS, type Lease, type Leases } from '../../running/leases.ts';
import type { Store } from '../../store/store.ts';
import type { OutgoingEvent } from './send.ts';

export type DeliveryEnd = 'delivered' | 'abandoned';

export interface DeliveryQueue extends Leases {
  /** The event to send, or undefined when its record has gone meanwhile. */
  read(id: string): (OutgoingEvent & { readonly jobId: string }) | undefined;
  /** Takes an event that we hold off the queue for good. */
  end(id: string, status: DeliveryEnd, now: number): void;
}

const FIND = `
  SELECT id FROM deliveries
  WHERE status = 'pending' AND run_after <= ?1
    AND (lease_owner IS NULL OR (?2 AND lease_owner <> ?3 AND lease_until <= ?1))
  ORDER BY run_after LIMIT 1`;
const TAKE = `
  UPDATE deliveries SET lease_owner = ?, lease_until = ?, attempts = attempts + 1 WHERE id = ?
  RETURNING id, attempts AS attempt`;
const OURS = `id = ? AND lease_owner = ? AND status = 'pending'`;
const RENEW = `UPDATE deliveries SET lease_until = ? WHERE ${OURS}`;
const RELEASE = `
  UPDATE deliveries SET lease_owner = NULL, lease_until = NULL, run_after = ?, attempts = attempts - ?
  WHERE ${OURS}`;
const END = `
  UPDATE deliveries SET status = ?, ended_at = ?, lease_owner = NULL, lease_until = NULL WHERE ${OURS}`;
const READ = `
  SELECT deliveries.id, job_id AS jobId, url, body, keys.webhook_secret AS secret
  FROM deliveries JOIN keys ON keys.id = deliveries.key_id WHERE deliveries.id = ?`;

/**
 * Makes the queue as one process sees it.
 * @param owner of the leases, different for every process
 */
export function createDeliveryQueue(store: Store, owner: string): DeliveryQueue {
  return {
    claim(now, takeOver) {
      const look = () => store.get<{ id: string }>(FIND, now, takeOver ? 1 : 0, owner);
      // Looking takes no lock, and mostly there is nothing to take.
      if (look() === undefined) return null;
      return store.transaction(() => {
        const row = look();
        return row === undefined ? null : (store.get<Lease>(TAKE, owner, now + LEASE_MS, row.id) ?? null);
      });
    },
    renew: (id, now) => store.run(RENEW, now + LEASE_MS, id, owner) === 1,
    release: (id, { runAfter, counted }) => {
      store.run(RELEASE, runAfter, counted ? 0 : 1, id, owner);
    },
    read: (id) => store.get(READ, id),
    end: (id, status, now) => {
      store.run(END, status, now, id, owner);
    },
  };
}
