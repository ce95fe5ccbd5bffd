import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { IdSubject } from '../../../src/protocol/id-prefixes.ts';
import { createIdMaker } from '../../../src/protocol/ids.ts';
import { issueKey } from '../../../src/service/auth/keys.ts';
import { readAccount, readMonthlyUse } from '../../../src/service/credits/account.ts';
import { releaseCredits, reserveCredits, settleCredits } from '../../../src/service/credits/billing.ts';
import { grantCredits } from '../../../src/service/credits/grant.ts';
import { monthOf } from '../../../src/service/credits/month.ts';
import { Refusal } from '../../../src/service/http/refusal.ts';
import { migrate } from '../../../src/service/store/schema.ts';
import { openStore, type Store } from '../../../src/service/store/store.ts';
import { runs } from '../../protocol/arbitraries.ts';
import { makeStateDir, startScene } from '../harness/scene.ts';

const START = Date.UTC(2026, 10, 20);
const DAY_MS = 86_400_000;
const LIMIT = 40_000;
/** Thousands of sequences on a real database: three seconds, on a busy machine several times that. */
const PATIENCE = { timeout: 180_000 };

/** What the account should be, kept in the plainest way there is. */
interface Model {
  now: number;
  grants: { remaining: number; expiresAt: number }[];
  open: Map<string, { amount: number; month: string }>;
  charged: { amount: number; month: string }[];
  jobs: number;
}

interface Real {
  readonly store: Store;
  readonly key: { id: string; monthly_limit: number };
  readonly makeId: (subject: IdSubject) => string;
}

const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
const usable = (model: Model) =>
  sum(model.grants.filter((grant) => grant.expiresAt > model.now).map((grant) => grant.remaining));
const reserved = (model: Model) => sum([...model.open.values()].map((bill) => bill.amount));
const used = (model: Model) => {
  const { name } = monthOf(model.now);
  return sum(
    [...model.open.values(), ...model.charged]
      .filter((bill) => bill.month === name)
      .map((bill) => bill.amount),
  );
};

function check(model: Model, { store, key }: Real): void {
  const account = readAccount(store, model.now);
  const ledger = store.get<{ total: number }>('SELECT coalesce(sum(amount), 0) AS total FROM ledger');
  const balance = sum(model.grants.map((grant) => grant.remaining));
  expect(ledger?.total).toBe(balance);
  expect(account).toEqual({
    balance,
    reserved: reserved(model),
    available: Math.max(0, usable(model) - reserved(model)),
  });
  expect(readMonthlyUse(store, key.id, monthOf(model.now).name)).toBe(used(model));
  const twice = store.get(
    'SELECT job_id FROM ledger WHERE job_id IS NOT NULL GROUP BY job_id HAVING count(*) > 1',
  );
  expect(twice).toBeUndefined();
}

const pick = (model: Model, at: number) => [...model.open.keys()][at % Math.max(1, model.open.size)];

class Grant implements fc.Command<Model, Real> {
  readonly credits: number;
  readonly days: number;
  constructor(credits: number, days: number) {
    this.credits = credits;
    this.days = days;
  }
  check = () => true;
  run(model: Model, real: Real): void {
    const expiresAt = model.now + this.days * DAY_MS;
    grantCredits(real.store, { credits: this.credits, expiresAt }, model.now, real.makeId);
    model.grants.push({ remaining: this.credits * 1000, expiresAt });
    check(model, real);
  }
  toString = () => `grant ${this.credits} for ${this.days} days`;
}

class Reserve implements fc.Command<Model, Real> {
  readonly quantity: number;
  readonly price: number;
  constructor(quantity: number, price: number) {
    this.quantity = quantity;
    this.price = price;
  }
  check = () => true;
  run(model: Model, real: Real): void {
    const jobId = `job-${model.jobs}`;
    model.jobs += 1;
    const amount = this.quantity * this.price;
    const { quantity, price } = this;
    const attempt = () =>
      real.store.transaction(() =>
        reserveCredits(real.store, { jobId, key: real.key, unit: 'line', quantity, price }, model.now),
      );
    if (amount > Math.max(0, usable(model) - reserved(model))) {
      expect(attempt).toThrow(expect.objectContaining({ code: 'INSUFFICIENT_CREDITS' }));
    } else if (amount > LIMIT - used(model)) {
      expect(attempt).toThrow(Refusal);
    } else {
      attempt();
      model.open.set(jobId, { amount, month: monthOf(model.now).name });
    }
    check(model, real);
  }
  toString = () => `reserve ${this.quantity} × ${this.price}`;
}

class End implements fc.Command<Model, Real> {
  readonly at: number;
  /** Part of the estimate that the job came to; null: it failed. */
  readonly part: number | null;
  constructor(at: number, part: number | null) {
    this.at = at;
    this.part = part;
  }
  check = (model: Readonly<Model>) => model.open.size > 0;
  run(model: Model, real: Real): void {
    const jobId = pick(model, this.at) ?? '';
    const bill = model.open.get(jobId) ?? { amount: 0, month: '' };
    model.open.delete(jobId);
    if (this.part === null) {
      releaseCredits(real.store, jobId);
      releaseCredits(real.store, jobId);
    } else {
      const row = real.store.get<{ price: number; quantity: number }>(
        'SELECT price, quantity FROM bills WHERE job_id = ?',
        jobId,
      );
      const { price = 0, quantity = 0 } = row ?? {};
      const done = Math.floor(quantity * this.part);
      const amount = Math.min(done * price, bill.amount);
      const settle = () =>
        settleCredits(
          real.store,
          { id: jobId, kind: 'subtitle_translation', clientReference: null, quantity: done },
          model.now,
          real.makeId,
        );
      settle();
      settle();
      spend(model, amount);
      model.charged.push({ amount, month: bill.month });
    }
    check(model, real);
  }
  toString = () => (this.part === null ? `release #${this.at}` : `settle #${this.at} at ${this.part}`);
}

function spend(model: Model, amount: number): void {
  const byExpiry = [...model.grants].sort((left, right) => {
    const lapsed = (grant: { expiresAt: number }) => (grant.expiresAt <= model.now ? 1 : 0);
    return lapsed(left) - lapsed(right) || left.expiresAt - right.expiresAt;
  });
  let left = amount;
  for (const grant of byExpiry) {
    const taken = Math.min(left, grant.remaining);
    grant.remaining -= taken;
    left -= taken;
  }
  expect(left).toBe(0);
}

class Wait implements fc.Command<Model, Real> {
  readonly days: number;
  constructor(days: number) {
    this.days = days;
  }
  check = () => true;
  run(model: Model, real: Real): void {
    model.now += this.days * DAY_MS;
    check(model, real);
  }
  toString = () => `wait ${this.days} days`;
}

const commands = [
  fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 20 })).map(([c, d]) => new Grant(c, d)),
  fc
    .tuple(fc.integer({ min: 0, max: 20 }), fc.constantFrom(1, 333, 1000))
    .map(([quantity, price]) => new Reserve(quantity, price)),
  fc.tuple(fc.nat(), fc.constantFrom(null, 0, 0.5, 1, 2)).map(([at, part]) => new End(at, part)),
  fc.integer({ min: 1, max: 15 }).map((days) => new Wait(days)),
];

test.each([
  { sequences: 'short', size: '=', numRuns: 5_000 },
  { sequences: 'long', size: '+1', numRuns: runs(300, 5_000) },
] as const)(
  'balance, reservations and quota agree with the ledger, whatever happens in whatever order ($sequences)',
  PATIENCE,
  async ({ size, numRuns }) => {
    const store = openStore(join(await makeStateDir(), 'ledger.sqlite'), 'NORMAL');
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
