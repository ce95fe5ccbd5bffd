import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { IdSubject } from '../../../src/protocol/id-prefixes.ts';
import { createIdMaker } from '../../../src/protocol/ids.ts';
import { issueKey } from '../../../src/service/auth/keys.ts';
import { readAccount } from '../../../src/service/credits/account.ts';
import { reserveCredits } from '../../../src/service/credits/billing.ts';
import { grantCredits } from '../../../src/service/credits/grant.ts';
import { Refusal } from '../../../src/service/http/refusal.ts';
import { migrate } from '../../../src/service/store/schema.ts';
import { openStore } from '../../../src/service/store/store.ts';
import { runs } from '../../protocol/arbitraries.ts';
import { makeStateDir, startScene } from '../harness/scene.ts';
import { commands, LIMIT, START } from './account-model.ts';

/** Thousands of sequences on a real database: three seconds, on a busy machine several times that. */
const PATIENCE = { timeout: 180_000 };

test.each([
  { sequences: 'short', size: '=', numRuns: 5_000 },
  { sequences: 'long', size: '+1', numRuns: runs(300, 5_000) },
] as const)(
  'balance, reservations and quota agree with the ledger, whatever happens in whatever order ($sequences)',
  PATIENCE,
  async ({ size, numRuns }) => {
    const store = openStore(join(await makeStateDir(), 'ledger.sqlite'), {
      synchronous: 'NORMAL',
      advice: '',
    });
    onTestFinished(() => store.close());
    migrate(store);
    const nextId = createIdMaker(() => randomBytes(4).readUInt32BE() / 2 ** 32);
    const makeId = (subject: IdSubject) => nextId(subject, START);
    const issued = issueKey(store, {}, START, randomBytes);
    fc.assert(
      fc.property(fc.commands(commands, { maxCommands: 40, size }), (sequence) => {
        store.script('DELETE FROM bills; DELETE FROM ledger; DELETE FROM grants;');
        const setup = () => ({
          model: { now: START, grants: [], open: new Map(), charged: [], jobs: 0 },
          real: { store, key: { id: issued.key, monthly_limit: LIMIT }, makeId },
        });
        fc.modelRun(setup, sequence);
      }),
      { numRuns },
    );
  },
);

test('the balance tells what is reserved, what is left of the month, and when the next one begins', async () => {
  const { caller, callerFor, service, engines } = await startScene();
  engines.hold();
  const limited = callerFor(service.issueKey({ monthlyLimitCredits: 2.5 }));
  const lines = [1, 2].map((index) => ({ index, start_ms: index, end_ms: index + 1, text: 'hello' }));
  const translate = { subtitle: { type: 'lines', lines }, source_language: 'en', target_language: 'es' };
  await limited.post('/v1/subtitle-translations', translate);
  const { json } = await limited.get('/v1/credits');
  expect(json).toMatchObject({
    object: 'credit_balance',
    balance_credits: 100_000,
    reserved_credits: 2,
    available_credits: 99_998,
    monthly_usage: {
      time_zone: 'Asia/Shanghai',
      used_credits: 2,
      limit_credits: 2.5,
      remaining_credits: 0.5,
    },
  });
  expect(Date.parse(json.monthly_usage.resets_at)).toBeGreaterThan(Date.now());
  const refused = await limited.post('/v1/subtitle-translations', translate);
  expect(refused.status).toBe(429);
  expect(refused.json).toMatchObject({ code: 'CREDIT_QUOTA_EXCEEDED', retryable: false });
  const unlimited = await caller.get('/v1/credits');
  expect(unlimited.json.monthly_usage).toMatchObject({
    used_credits: 0,
    limit_credits: null,
    remaining_credits: null,
  });
  expect((await caller.get('/v1/credits?limit=1')).status).toBe(400);
});

test('a job may use up the monthly quota to the last thousandth, and not one more', async () => {
  const store = openStore(join(await makeStateDir(), 'ledger.sqlite'), { synchronous: 'NORMAL', advice: '' });
  onTestFinished(() => store.close());
  migrate(store);
  const nextId = createIdMaker(() => 0);
  grantCredits(store, { credits: 10, expiresAt: null }, START, (subject) => nextId(subject, START));
  const { key: id } = issueKey(store, {}, START, randomBytes);
  const reserve = (jobId: string, price: number) =>
    reserveCredits(
      store,
      { jobId, key: { id, monthly_limit: 2_000 }, unit: 'line', quantity: 1, price },
      START,
    );
  reserve('first', 1_500);
  expect(() => reserve('second', 501)).toThrow(Refusal);
  expect(readAccount(store, START).reserved).toBe(1_500);
  reserve('second', 500);
  expect(() => reserve('third', 1)).toThrow(Refusal);
  expect(readAccount(store, START)).toMatchObject({ reserved: 2_000, available: 8_000 });
});

test('of 200 creates at once on credits for ten, ten are accepted', async () => {
  const { caller, engines } = await startScene({ config: { openingCredits: 10, concurrentTasks: 1000 } });
  engines.hold();
  const lines = [{ index: 1, start_ms: 0, end_ms: 1, text: 'hello' }];
  const body = { subtitle: { type: 'lines', lines }, source_language: 'en', target_language: 'es' };
  const replies = await Promise.all(
    Array.from({ length: 200 }, () => caller.post('/v1/subtitle-translations', body)),
  );
  expect(replies.filter((reply) => reply.status === 202)).toHaveLength(10);
  expect(replies.filter((reply) => reply.json.code === 'INSUFFICIENT_CREDITS')).toHaveLength(190);
  expect((await caller.get('/v1/credits')).json).toMatchObject({
    reserved_credits: 10,
    available_credits: 0,
  });
});
