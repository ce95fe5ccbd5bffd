/** The rules of claims, for the store of either kind. */
import { expect, it } from 'vitest';
import { OPEN_JOBS } from '../../../src/service/background.ts';
import { type CanDo, createLeases, type Leases } from '../../../src/service/running/leases.ts';
import type { SqlValue, Statements, Store } from '../../../src/service/store/store.ts';

const NOW = 1_800_000_000_000;

async function addKey(store: Store, key: string): Promise<void> {
  const insert = `INSERT INTO keys (id, secret, webhook_secret, permissions, allowed_addresses, created_at)
    VALUES (?, '', '', '', '', 0)`;
  await store.run(insert, key);
}

/** Adds waiting jobs of a key, the first at `from`. */
async function addJobs(store: Store, key: string, count: number, from = 0, needs: string | null = null) {
  await addKey(store, key);
  const marks = Array.from({ length: count }, () => `(?, ?, 'dubbing', 'queued', ?, 0, '', '', ?)`).join(
    ', ',
  );
  await store.run(
    `INSERT INTO jobs (id, key_id, kind, status, created_at, updated_at, input, request, needs) VALUES ${marks}`,
    ...Array.from({ length: count }, (_, at) => [
      `${key}${String(at + 1).padStart(4, '0')}`,
      key,
      from + at,
      needs,
    ]).flat(),
  );
}

/** Claims one row after another, without ending any; returns their ids. */
async function claimed(leases: Leases, count: number, from = NOW): Promise<(string | undefined)[]> {
  const ids = [];
  for (let at = 0; at < count; at += 1) ids.push((await leases.claim(from + at, true, []))?.id);
  return ids;
}

/** The same store, which notes the reads with their values, also those of transactions. */
function noteReads(store: Store, note: (sql: string, values: readonly SqlValue[]) => void): Store {
  const noting = <Reader extends Statements>(reader: Reader): Reader => ({
    ...reader,
    get: (sql, ...values) => {
      note(sql, values);
      return reader.get(sql, ...values);
    },
    all: (sql, ...values) => {
      note(sql, values);
      return reader.all(sql, ...values);
    },
  });
  return noting(store);
}

/**
 * The time of a claim must not grow with the number of rows that wait or have ended. Statistics of the database are from before.
 * @param explain the statement that returns how another one is carried out
 */
export function describePlans(open: () => Promise<Store>, explain: 'EXPLAIN' | 'EXPLAIN QUERY PLAN'): void {
  it.each([
    ['ended', ['end', 'ANALYZE']],
    ['waiting', ['ANALYZE', 'end']],
  ])('read one row of each key, not all, while statistics know the %s rows', async (_, steps) => {
    const store = await open();
    await addJobs(store, 'old', 1000);
    // A table of a few pages may be read as a whole.
    await store.run('UPDATE jobs SET request = ?', 'x'.repeat(1000));
    for (const step of steps) await store.run(step === 'end' ? `UPDATE jobs SET status = 'succeeded'` : step);
    await addJobs(store, 'a', 2000);
    const reads: [sql: string, values: readonly SqlValue[]][] = [];
    const noted = noteReads(store, (...read) => reads.push(read));
    expect(await claimed(createLeases(noted, OPEN_JOBS, 'one'), 1)).toEqual(['a0001']);
    const plans = [];
    for (const [sql, values] of reads)
      plans.push(JSON.stringify(await store.all(`${explain} ${sql}`, ...values)));
    expect(plans).toEqual([expect.stringContaining('jobs_leased'), expect.stringContaining('jobs_waiting')]);
    for (const plan of plans)
      expect(plan).not.toMatch(/jobs_open|jobs_by|jobs_ended|Seq Scan on jobs|SCAN jobs"/);
  });
}

/** @param open opens an account without keys and jobs */
export function describeClaims(open: () => Promise<Store>): void {
  it('leave jobs that a process cannot do to others, however many such jobs come first', async () => {
    const store = await open();
    await addJobs(store, 'a', 30, 0, 'dubbing - es');
    await addJobs(store, 'b', 30, 0, 'dubbing - fr');
    await addJobs(store, 'c', 1, 5000, 'dubbing - de');
    await addJobs(store, 'd', 1, 5001);
    const only =
      (needs: string): (() => Promise<CanDo>) =>
      async () =>
      (each) =>
        each === needs;
    const german = createLeases(store, OPEN_JOBS, 'german', only('dubbing - de'));
    expect(await claimed(german, 3)).toEqual(['c0001', 'd0001', undefined]);
    const none = createLeases(store, OPEN_JOBS, 'none', async () => () => false);
    expect(await claimed(none, 1)).toEqual([undefined]);
    expect(await claimed(createLeases(store, OPEN_JOBS, 'any'), 2)).toEqual(['a0001', 'b0001']);
  });

  it('assign each row to one of many processes', async () => {
    const store = await open();
    await addJobs(store, 'a', 20);
    const owners = Array.from({ length: 8 }, (_, at) => createLeases(store, OPEN_JOBS, `owner${at}`));
    const found = await Promise.all(owners.map((leases) => claimed(leases, 3)));
    const ids = found.flat().filter((id) => id !== undefined);
    expect(ids).toHaveLength(20);
    expect(new Set(ids).size).toBe(20);
  });
}
