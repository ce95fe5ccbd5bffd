/** Which row a claim may lease, in plain TypeScript, and random queues to compare it with the store. */
import fc from 'fast-check';
import { LEASE_MS, type LeasedRows } from '../../../src/service/running/leases.ts';

export interface QueueRow {
  readonly id: string;
  readonly key: string;
  readonly createdAt: number;
  readonly needs: string | null;
  readonly isOpen: boolean;
  readonly runAfter: number;
  readonly owner: string | null;
  readonly until: number | null;
  readonly attempts: number;
  readonly crashes: number;
}

export interface Queue {
  readonly rows: readonly QueueRow[];
  /** When each key last had a row leased. */
  readonly turns: ReadonlyMap<string, number>;
}

export interface Claim {
  readonly now: number;
  readonly takeOver: boolean;
  readonly held: readonly string[];
  readonly can: readonly string[];
}

/** Returns the rows that a claim may lease: more than one if the rules do not decide between them. */
export function claimable(
  { rows, turns }: Queue,
  { now, takeOver, held, can }: Claim,
  { firstBy }: LeasedRows,
): QueueRow[] {
  const isPossible = ({ isOpen, runAfter, needs }: QueueRow) =>
    isOpen && runAfter <= now && (needs === null || can.includes(needs));
  const possible = rows.filter(isPossible);
  const expired = possible.filter(
    ({ id, owner, until }) => takeOver && owner !== null && (until ?? 0) <= now && !held.includes(id),
  );
  const firstExpiry = Math.min(...expired.map(({ until }) => until ?? 0));
  if (expired.length > 0) return expired.filter(({ until }) => until === firstExpiry);
  const leased = (key: string) =>
    rows.filter((row) => row.key === key && row.isOpen && (row.until ?? 0) > now).length;
  const best = [
    (row: QueueRow) => leased(row.key),
    (row: QueueRow) => turns.get(row.key) ?? 0,
    (row: QueueRow) => (firstBy === 'created_at' ? row.createdAt : row.runAfter),
  ];
  return best.reduce(
    (left, rank) => {
      const lowest = Math.min(...left.map(rank));
      return left.filter((row) => rank(row) === lowest);
    },
    possible.filter(({ owner }) => owner === null),
  );
}

/** The queue after a claim has leased a row. */
export function leaseRow(queue: Queue, id: string, owner: string, now: number): Queue {
  const turns = new Map(queue.turns);
  const rows = queue.rows.map((row) => {
    if (row.id !== id) return row;
    turns.set(row.key, now);
    const again = row.owner === null ? 0 : 1;
    const counts = { attempts: row.attempts + 1 - again, crashes: row.crashes + again };
    return { ...row, ...counts, owner, until: now + LEASE_MS };
  });
  return { rows, turns };
}

export const changeRow = ({ rows, turns }: Queue, id: string, change: Partial<QueueRow>): Queue => ({
  rows: rows.map((row) => (row.id === id ? { ...row, ...change } : row)),
  turns,
});

export const START = 1_800_000_000_000;
/** By bytes, `B` comes before `a`; in a dictionary it comes after. */
export const KEYS = ['B', 'a', 'aa', 'é'] as const;
export const OWNERS = ['one', 'two'] as const;
const NEEDS = ['dubbing - es', 'dubbing - fr', 'dubbing - e'] as const;

const MOST_ROWS = 12;
const nameRow = (at: number) => `row${at}`;

/** Few different values, so that rows often have the same. */
const lease = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ owner: null, until: null }) },
  {
    weight: 2,
    arbitrary: fc.record({
      owner: fc.constantFrom(...OWNERS, 'dead'),
      until: fc.constantFrom(START - 1, START, START + 1, START + LEASE_MS),
    }),
  },
);
const queued = fc
  .record({
    key: fc.constantFrom(...KEYS),
    createdAt: fc.integer({ min: 0, max: 3 }),
    needs: fc.option(fc.constantFrom(...NEEDS)),
    isOpen: fc.boolean().map((isEnded) => !isEnded),
    runAfter: fc.constantFrom(0, 1, START, START + 1, START + LEASE_MS),
    lease,
    attempts: fc.integer({ min: 1, max: 3 }),
    crashes: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ lease: leased, ...rest }) => ({
    ...rest,
    ...(rest.isOpen ? leased : { owner: null, until: null }),
  }));

export const queues: fc.Arbitrary<Queue> = fc
  .tuple(
    fc.array(queued, { maxLength: MOST_ROWS }),
    fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), fc.integer({ min: 0, max: 2 })), {
      selector: ([key]) => key,
    }),
  )
  .map(([rows, turns]) => ({
    rows: rows.map((each, at) => ({ ...each, id: nameRow(at) })),
    turns: new Map(turns),
  }));

const owner = fc.constantFrom(...OWNERS);
/** The number of a row, which need not exist. */
const row = fc.nat({ max: MOST_ROWS - 1 });
const claim = fc.record({
  type: fc.constant('claim' as const),
  owner,
  takeOver: fc.boolean(),
  held: fc.array(row.map(nameRow), { maxLength: 3 }),
  can: fc.subarray([...NEEDS]),
});
const step = fc.oneof(
  { weight: 6, arbitrary: claim },
  fc.record({ type: fc.constant('end' as const), owner, row }),
  fc.record({ type: fc.constant('renew' as const), owner, row }),
  fc.record({
    type: fc.constant('release' as const),
    ...{ owner, row },
    counted: fc.boolean(),
    delay: fc.constantFrom(0, 1, 2000),
  }),
  fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(1, 2, LEASE_MS) }),
);
/** What happens to a queue, in order. */
export const steps = fc.array(step, { minLength: 1, maxLength: 10 });
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
