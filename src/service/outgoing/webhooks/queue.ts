/** The events that wait to be delivered, as leases for a worker: what was due first goes first. */
import { createLeases, type LeasedRows, type Leases } from '../../running/leases.ts';
import type { Store } from '../../store/store.ts';
import type { OutgoingEvent } from './send.ts';

export type DeliveryEnd = 'delivered' | 'abandoned';

export interface DeliveryQueue extends Leases {
  /** The event to send, or undefined when its record has gone meanwhile. */
  read(id: string): (OutgoingEvent & { readonly jobId: string }) | undefined;
  /** Takes an event that we hold off the queue for good. */
  end(id: string, status: DeliveryEnd, now: number): void;
}

const PENDING: LeasedRows = { table: 'deliveries', open: `status = 'pending'`, firstBy: 'run_after' };
const END = `
  UPDATE deliveries SET status = ?, ended_at = ?, lease_owner = NULL, lease_until = NULL
  WHERE id = ? AND lease_owner = ? AND status = 'pending'`;
const READ = `
  SELECT deliveries.id, job_id AS jobId, url, body, keys.webhook_secret AS secret
  FROM deliveries JOIN keys ON keys.id = deliveries.key_id WHERE deliveries.id = ?`;

/**
 * Makes the queue as one process sees it.
 * @param owner of the leases, different for every process
 */
export function createDeliveryQueue(store: Store, owner: string): DeliveryQueue {
  return {
    ...createLeases(store, PENDING, owner),
    read: (id) => store.get(READ, id),
    end: (id, status, now) => {
      store.run(END, status, now, id, owner);
    },
  };
}
