/** Claims compared with the model, on random queues in a store of either kind. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OPEN_JOBS } from '../../../src/service/background.ts';
import { createLeases, LEASE_MS, type LeasedRows } from '../../../src/service/running/leases.ts';
import type { SqlValue, Statements, Store } from '../../../src/service/store/store.ts';
import { runs } from '../../protocol/arbitraries.ts';
import {
  changeRow,
  claimable,
  KEYS,
  leaseRow,
  OWNERS,
  type Queue,
  queues,
  START,
  type Step,
  steps,
} from './queue-model.ts';

interface Kind {
  readonly leased: LeasedRows;
  /** The status of a row that has work, and of one that has ended. */
  readonly open: string;
  readonly ended: string;
  /** What else a row of the table must have. */
  readonly others: Readonly<Record<string, SqlValue>>;
}

const TEXTS = { purpose: '', file_name: '', content_type: '', size_bytes: 0, updated_at: 0, expires_at: 0 };
const KINDS: readonly Kind[] = [
  {
    leased: OPEN_JOBS,
    open: 'queued',
    ended: 'succeeded',
    others: { kind: 'dubbing', updated_at: 0, input: '', request: '' },
  },
  {
    leased: { table: 'uploads', open: `status = 'validating'`, firstBy: 'created_at' },
    open: 'validating',
    ended: 'ready',
    others: TEXTS,
  },
  {
    leased: { table: 'deliveries', open: `status = 'pending'`, firstBy: 'run_after' },
    open: 'pending',
    ended: 'delivered',
    others: { url: '', body: '' },
  },
];

async function insert(store: Statements, table: string, values: Readonly<Record<string, SqlValue>>) {
  const names = Object.keys(values);
  const marks = names.map(() => '?').join(', ');
  await store.run(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`, ...Object.values(values));
}

async function fill(store: Store, { leased: { table, needs }, open, ended, others }: Kind, queue: Queue) {
  await store.transaction(async (tx) => {
    for (const each of ['deliveries', 'jobs', 'uploads', 'turns', 'keys'])
      await tx.run(`DELETE FROM ${each}`);
    const ofKey = { secret: '', webhook_secret: '', permissions: '', allowed_addresses: '', created_at: 0 };
    for (const id of KEYS) await insert(tx, 'keys', { id, ...ofKey });
    for (const [key, at] of queue.turns)
      await insert(tx, 'turns', { queue: table, key_id: key, taken_at: at });
    for (const row of queue.rows) {
      const own = { id: row.id, key_id: row.key, created_at: row.createdAt };
      if (table === 'deliveries')
        await insert(tx, 'jobs', { ...own, status: 'succeeded', ...KINDS[0]?.others });
      await insert(tx, table, {
        ...own,
        ...others,
        ...(needs === undefined ? {} : { needs: row.needs }),
        ...(table === 'deliveries' ? { job_id: row.id } : {}),
        status: row.isOpen ? open : ended,
        run_after: row.runAfter,
        lease_owner: row.owner,
        lease_until: row.until,
        attempts: row.attempts,
        crashes: row.crashes,
      });
    }
  });
}

/** Applies steps to the store and to the model, and compares what each claim leases. */
async function compare(store: Store, kind: Kind, filled: Queue, list: readonly Step[]): Promise<void> {
  const { leased, ended } = kind;
  await fill(store, kind, filled);
  let queue: Queue = leased.needs === undefined ? withoutNeeds(filled) : filled;
  let now = START;
  let can: readonly string[] = [];
  const leasesOf = (owner: string) =>
    createLeases(store, leased, owner, async () => (needs) => can.includes(needs));
  const owners = new Map(OWNERS.map((owner) => [owner, leasesOf(owner)]));

  const claim = async (step: Step & { type: 'claim' }) => {
    can = step.can;
    const possible = claimable(queue, { ...step, now }, leased);
    const lease = await owners.get(step.owner)?.claim(now, step.takeOver, step.held);
    const row = possible.find(({ id }) => id === lease?.id);
    if (row === undefined) {
      expect([lease, possible]).toEqual([null, []]);
      return;
    }
    queue = leaseRow(queue, row.id, step.owner, now);
    const { attempts: attempt, crashes } = queue.rows.find(({ id }) => id === row.id) ?? row;
    expect(lease).toEqual({ id: row.id, attempt, crashes, takenFrom: row.owner });
  };
  const apply = async (step: Step) => {
    if (step.type === 'wait') {
      now += step.ms;
      return;
    }
    if (step.type === 'claim') return claim(step);
    const row = queue.rows[step.row];
    if (row === undefined) return;
    const leases = owners.get(step.owner);
    const isOwn = row.isOpen && row.owner === step.owner;
    if (step.type === 'end') {
      const end = `UPDATE ${leased.table} SET status = ?, lease_owner = NULL, lease_until = NULL WHERE id = ?`;
      await store.run(end, ended, row.id);
      queue = changeRow(queue, row.id, { isOpen: false, owner: null, until: null });
    } else if (step.type === 'renew') {
      expect(await leases?.renew([row.id, 'unknown', row.id], now)).toEqual(new Set(isOwn ? [row.id] : []));
      if (isOwn) queue = changeRow(queue, row.id, { until: now + LEASE_MS });
    } else {
      const runAfter = now + step.delay;
      await leases?.release(row.id, { runAfter, counted: step.counted });
      const attempts = row.attempts - (step.counted ? 0 : 1);
      if (isOwn) queue = changeRow(queue, row.id, { owner: null, until: null, runAfter, attempts });
    }
  };
  for (const step of list) await apply(step);
}

const withoutNeeds = ({ rows, turns }: Queue): Queue => ({
  rows: rows.map((row) => ({ ...row, needs: null })),
  turns,
});

/** @param open opens an account without keys and jobs */
export function describeClaimOrder(open: () => Promise<Store>, numRuns = runs(40, 4000)): void {
  it.each(KINDS)('lease the row that the rules say, of random $leased.table', async (kind) => {
    const store = await open();
    await fc.assert(
      fc.asyncProperty(queues, steps, (queue, list) => compare(store, kind, queue, list)),
      { numRuns },
    );
  });
}
