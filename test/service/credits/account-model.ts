/** An account kept in the plainest way there is, and what may happen to it: each step is done to both, and compared. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { IdSubject } from '../../../src/protocol/id-prefixes.ts';
import { grantCredits, monthOf, readAccount, readMonthlyUse } from '../../../src/service/credits/account.ts';
import { releaseCredits, reserveCredits, settleCredits } from '../../../src/service/credits/billing.ts';
import { Refusal } from '../../../src/service/http/refusal.ts';
import type { Store } from '../../../src/service/store/store.ts';

export const START = Date.UTC(2026, 10, 20);
const DAY_MS = 86_400_000;
/** Of a month, in thousandths of a credit. */
export const LIMIT = 40_000;

/** What the account should be, kept in the plainest way there is. */
export interface Model {
  now: number;
  grants: { remaining: number; expiresAt: number }[];
  open: Map<string, { amount: number; month: string }>;
  charged: { amount: number; month: string }[];
  jobs: number;
}

export interface Real {
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

/** Any of them with any numbers, for `fc.commands`. */
export const commands = [
  fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 20 })).map(([c, d]) => new Grant(c, d)),
  fc
    .tuple(fc.integer({ min: 0, max: 20 }), fc.constantFrom(1, 333, 1000))
    .map(([quantity, price]) => new Reserve(quantity, price)),
  fc.tuple(fc.nat(), fc.constantFrom(null, 0, 0.5, 1, 2)).map(([at, part]) => new End(at, part)),
  fc.integer({ min: 1, max: 15 }).map((days) => new Wait(days)),
];
