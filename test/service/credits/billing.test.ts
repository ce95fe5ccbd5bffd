import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { IdSubject } from '../../../src/protocol/id-prefixes.ts';
import { createIdMaker } from '../../../src/protocol/ids.ts';
import { issueKey } from '../../../src/service/auth/keys.ts';
import { grantCredits, readAccount, readMonthlyUse } from '../../../src/service/credits/account.ts';
import {
  billFor,
  readFunds,
  readReserved,
  releaseCredits,
  reserveCredits,
  settleCredits,
} from '../../../src/service/credits/billing.ts';
import { Refusal } from '../../../src/service/http/refusal.ts';
import { runs } from '../../protocol/arbitraries.ts';
import { NEW_JOB, startScene, TRANSLATION } from '../harness/scene.ts';
import { openEmptyAccount } from '../harness/stores.ts';
import { commands, LIMIT, START } from './account-model.ts';

/** Many sequences on a real database: seconds, on a busy machine several times that. */
const PATIENCE = { timeout: 180_000 };

test.each([
  { sequences: 'short', size: '=', numRuns: runs(50, 5_000) },
  { sequences: 'long', size: '+1', numRuns: runs(25, 5_000) },
] as const)(
  'balance, reservations and quota agree with the ledger, whatever happens in whatever order ($sequences)',
  PATIENCE,
  async ({ size, numRuns }) => {
    const { store, file } = await openEmptyAccount();
    const nextId = createIdMaker(() => randomBytes(4).readUInt32BE() / 2 ** 32);
    const makeId = (subject: IdSubject) => nextId(subject, START);
    const issued = await issueKey(store, { monthlyLimitCredits: LIMIT / 1000 }, START, randomBytes);
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 40, size }), async (sequence) => {
        file.script('DELETE FROM bills; DELETE FROM monthly_use; DELETE FROM ledger; DELETE FROM grants;');
        const setup = () => ({
          model: { now: START, grants: [], open: new Map(), charged: [], jobs: 0 },
          real: { store, key: { id: issued.key, monthly_limit: LIMIT }, makeId },
        });
        await fc.asyncModelRun(setup, sequence);
      }),
      { numRuns },
    );
  },
);

/** An empty ledger of one key, from START. */
async function openLedger() {
  const { store } = await openEmptyAccount();
  const nextId = createIdMaker(() => 0.5);
  const makeId = (subject: IdSubject) => nextId(subject, START);
  const { key: id } = await issueKey(store, {}, START, randomBytes);
  const grant = (credits: number, expiresAt: number | null = null) =>
    store.transaction((tx) => grantCredits(tx, { credits, expiresAt }, START, makeId));
  const reserve = (jobId: string, price: number, monthlyLimit: number | null = null, quantity = 1) =>
    store.transaction(async (tx) => {
      const funds = await readFunds(tx, { id, monthly_limit: monthlyLimit }, START);
      await reserveCredits(tx, billFor(funds, { jobId, unit: 'line', quantity, price }));
    });
  const settle = (jobId: string, quantity = 1, now = START) =>
    store.transaction(async (tx) => {
      const job = { id: jobId, kind: 'dubbing', clientReference: 'lesson 1', quantity } as const;
      await settleCredits(tx, await readReserved(tx, jobId, now), job, now, makeId);
    });
  const release = (jobId: string) => store.transaction((tx) => releaseCredits(tx, jobId));
  const remaining = async () => {
    const rows = await store.all<{ remaining: number }>('SELECT remaining FROM grants ORDER BY id');
    return rows.map((row) => row.remaining);
  };
  return { store, id, grant, reserve, settle, release, remaining };
}

test('a job may use up the monthly quota to the last thousandth, and no more', async () => {
  const { store, grant, reserve } = await openLedger();
  await grant(10);
  await reserve('first', 1_500, 2_000);
  await expect(reserve('second', 501, 2_000)).rejects.toThrow(
    new Refusal('CREDIT_QUOTA_EXCEEDED', 'the job needs 0.501 credits, the key has 0.5 left in 2026-11'),
  );
  expect((await readAccount(store, START)).reserved).toBe(1_500);
  await reserve('second', 500, 2_000);
  await expect(reserve('third', 1, 2_000)).rejects.toThrow(Refusal);
  expect(await readAccount(store, START)).toMatchObject({ reserved: 2_000, available: 8_000 });
  // Of a quota that was lowered since, nothing is left, not less than that.
  await expect(reserve('third', 1, 1_000)).rejects.toThrow('the key has 0 left in 2026-11');
});

test('a job may use up the account to the last thousandth, and no more', async () => {
  const { store, grant, reserve } = await openLedger();
  await grant(2);
  await expect(reserve('first', 2_001)).rejects.toThrow(
    new Refusal('INSUFFICIENT_CREDITS', 'the job needs 2.001 credits, 2 are available'),
  );
  await reserve('first', 2_000);
  await expect(reserve('second', 1)).rejects.toMatchObject({ code: 'INSUFFICIENT_CREDITS' });
  expect(await readAccount(store, START)).toEqual({ balance: 2_000, reserved: 2_000, available: 0 });
});

test('an account without any grant has nothing', async () => {
  const { store, id } = await openLedger();
  expect(await readAccount(store, START)).toEqual({ balance: 0, reserved: 0, available: 0 });
  expect(await readMonthlyUse(store, id, '2026-11')).toBe(0);
});

test('credits that expired under a reservation leave zero available, not less', async () => {
  const { store, grant, reserve } = await openLedger();
  await grant(5, START + 1);
  await reserve('first', 3_000);
  expect(await readAccount(store, START)).toEqual({ balance: 5_000, reserved: 3_000, available: 2_000 });
  expect(await readAccount(store, START + 1)).toEqual({ balance: 5_000, reserved: 3_000, available: 0 });
});

test('a settled job is in the ledger once, with the charged quantity', async () => {
  const { store, id, grant, reserve, settle } = await openLedger();
  await grant(10);
  await reserve('first', 400, null, 5);
  expect(await readMonthlyUse(store, id, '2026-11')).toBe(2_000);
  await settle('first', 3, START + 7);
  await settle('first', 5, START + 8);
  const lines = await store.all('SELECT * FROM ledger WHERE job_id IS NOT NULL');
  expect(lines).toEqual([
    {
      id: expect.stringMatching(/^[a-z]+_/),
      amount: -1_200,
      posted_at: START + 7,
      key_id: id,
      job_id: 'first',
      kind: 'dubbing',
      client_reference: 'lesson 1',
      unit: 'line',
      quantity: 3,
    },
  ]);
  expect(await store.get('SELECT * FROM bills')).toMatchObject({
    status: 'settled',
    quantity: 3,
    charged: 1_200,
  });
  expect(await readAccount(store, START)).toEqual({ balance: 8_800, reserved: 0, available: 8_800 });
  expect(await readMonthlyUse(store, id, '2026-11')).toBe(1_200);
  expect(await readMonthlyUse(store, id, '2026-12')).toBe(0);
  expect(await readMonthlyUse(store, 'another key', '2026-11')).toBe(0);
});

test('a job that costs more than its estimate is charged the estimate', async () => {
  const { store, grant, reserve, settle } = await openLedger();
  await grant(10);
  await reserve('first', 400, null, 5);
  await settle('first', 9);
  expect(await readAccount(store, START)).toEqual({ balance: 8_000, reserved: 0, available: 8_000 });
});

test('a released job costs nothing, and one that was settled stays charged', async () => {
  const { store, id, grant, reserve, settle, release } = await openLedger();
  await grant(10);
  await reserve('first', 1_000);
  await release('first');
  await settle('first');
  expect(await readAccount(store, START)).toEqual({ balance: 10_000, reserved: 0, available: 10_000 });
  await reserve('second', 1_000);
  await settle('second');
  await release('second');
  expect(await readAccount(store, START)).toEqual({ balance: 9_000, reserved: 0, available: 9_000 });
  expect(await readMonthlyUse(store, id, '2026-11')).toBe(1_000);
});

test('credits that expire soonest are spent first, those that never expire next, expired ones last', async () => {
  const { store, grant, reserve, settle, remaining } = await openLedger();
  // Their ids are in this order.
  await grant(1);
  await grant(1, START + 2_000);
  await grant(1, START + 1_000);
  await reserve('first', 1_500);
  await reserve('second', 500);
  await reserve('third', 1_000);
  await settle('first');
  expect(await remaining()).toEqual([1_000, 500, 0]);
  // By then the second grant has expired.
  await settle('second', 1, START + 2_000);
  expect(await remaining()).toEqual([500, 500, 0]);
  await settle('third', 1, START + 2_000);
  expect(await remaining()).toEqual([0, 0, 0]);
  expect(await readAccount(store, START)).toEqual({ balance: 0, reserved: 0, available: 0 });
});

test('a charge that the grants do not cover is a defect, and is not posted', async () => {
  const { store, grant, reserve, settle } = await openLedger();
  await grant(2);
  await reserve('first', 1_500);
  await store.run('UPDATE grants SET remaining = 1000');
  await expect(settle('first')).rejects.toThrow('the grants lack 500 thousandths of what was reserved');
  expect(await readAccount(store, START)).toEqual({ balance: 1_000, reserved: 1_500, available: 0 });
});

test('of 50 concurrent creates with credits for ten, ten are accepted', async () => {
  const { caller, engines } = await startScene({ config: { openingCredits: 10, concurrentTasks: 1000 } });
  engines.hold();
  const replies = await Promise.all(Array.from({ length: 50 }, () => caller.post(NEW_JOB, TRANSLATION)));
  expect(replies.filter((reply) => reply.status === 202)).toHaveLength(10);
  expect(replies.filter((reply) => reply.json.code === 'INSUFFICIENT_CREDITS')).toHaveLength(40);
  expect((await caller.get('/v1/credits')).json).toMatchObject({
    reserved_credits: 10,
    available_credits: 0,
  });
});
