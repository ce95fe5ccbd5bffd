/** An account kept in the plainest way there is, and what may happen to it: each step is done to both, and compared. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { IdSubject } from '../../../src/protocol/id-prefixes.ts';
import { grantCredits, monthOf, readAccount, readMonthlyUse } from '../../../src/service/credits/account.ts';
import {
  billFor,
  raiseReservation,
  readFunds,
  readReserved,
  releaseCredits,
  reserveCredits,
  settleCredits,
} from '../../../src/service/credits/billing.ts';
import { Refusal } from '../../../src/service/http/refusal.ts';
import type { Store } from '../../../src/service/store/store.ts';

export const START = Date.UTC(2026, 10, 20);
const DAY_MS = 86_400_000;
/** Of a month, in thousandths of a credit. */
export const LIMIT = 40_000;

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
const used = (model: Model, name = monthOf(model.now).name) =>
  sum(
    [...model.open.values(), ...model.charged]
      .filter((bill) => bill.month === name)
      .map((bill) => bill.amount),
  );

async function check(model: Model, { store, key }: Real): Promise<void> {
  const account = await readAccount(store, model.now);
  const ledger = await store.get<{ total: number }>('SELECT coalesce(sum(amount), 0) AS total FROM ledger');
  const balance = sum(model.grants.map((grant) => grant.remaining));
  expect(ledger?.total).toBe(balance);
  expect(account).toEqual({
    balance,
    reserved: reserved(model),
    available: Math.max(0, usable(model) - reserved(model)),
  });
  expect(await readMonthlyUse(store, key.id, monthOf(model.now).name)).toBe(used(model));
  const twice = await store.get(
    'SELECT job_id FROM ledger WHERE job_id IS NOT NULL GROUP BY job_id HAVING count(*) > 1',
  );
  expect(twice).toBeUndefined();
}

const pick = (model: Model, at: number) => [...model.open.keys()][at % Math.max(1, model.open.size)];

class Grant implements fc.AsyncCommand<Model, Real> {
  readonly credits: number;
  readonly days: number;
  constructor(credits: number, days: number) {
    this.credits = credits;
    this.days = days;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    const expiresAt = model.now + this.days * DAY_MS;
    const grant = { credits: this.credits, expiresAt };
    await real.store.transaction((tx) => grantCredits(tx, grant, model.now, real.makeId));
    model.grants.push({ remaining: this.credits * 1000, expiresAt });
    await check(model, real);
  }
  toString = () => `grant ${this.credits} for ${this.days} days`;
}

class Reserve implements fc.AsyncCommand<Model, Real> {
  readonly quantity: number;
  readonly price: number;
  constructor(quantity: number, price: number) {
    this.quantity = quantity;
    this.price = price;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    const jobId = `job-${model.jobs}`;
    model.jobs += 1;
    const amount = this.quantity * this.price;
    const { quantity, price } = this;
    const attempt = () =>
      real.store.transaction(async (tx) => {
        const funds = await readFunds(tx, real.key, model.now);
        await reserveCredits(tx, billFor(funds, { jobId, unit: 'line', quantity, price }));
      });
    if (amount > Math.max(0, usable(model) - reserved(model))) {
      await expect(attempt()).rejects.toMatchObject({ code: 'INSUFFICIENT_CREDITS' });
    } else if (amount > LIMIT - used(model)) {
      await expect(attempt()).rejects.toThrow(Refusal);
    } else {
      await attempt();
      model.open.set(jobId, { amount, month: monthOf(model.now).name });
    }
    await check(model, real);
  }
  toString = () => `reserve ${this.quantity} × ${this.price}`;
}

class Raise implements fc.AsyncCommand<Model, Real> {
  readonly at: number;
  readonly quantity: number;
  constructor(at: number, quantity: number) {
    this.at = at;
    this.quantity = quantity;
  }
  check = (model: Readonly<Model>) => model.open.size > 0;
  async run(model: Model, real: Real): Promise<void> {
    const jobId = pick(model, this.at) ?? '';
    const bill = model.open.get(jobId) ?? { amount: 0, month: '' };
    const row = await real.store.get<{ price: number }>('SELECT price FROM bills WHERE job_id = ?', jobId);
    const amount = this.quantity * (row?.price ?? 0);
    const more = amount - bill.amount;
    const attempt = () =>
      real.store.transaction((tx) => raiseReservation(tx, { jobId, quantity: this.quantity }, model.now));
    const isUnaffordable =
      more > Math.max(0, usable(model) - reserved(model)) || more > LIMIT - used(model, bill.month);
    if (more > 0 && isUnaffordable) {
      await expect(attempt()).rejects.toThrow(Refusal);
    } else {
      await attempt();
      await attempt();
      model.open.set(jobId, { ...bill, amount: Math.max(amount, bill.amount) });
    }
    await check(model, real);
  }
  toString = () => `raise #${this.at} to ${this.quantity}`;
}

class End implements fc.AsyncCommand<Model, Real> {
  readonly at: number;
  /** Part of the estimate that the job came to; null: it failed. */
  readonly part: number | null;
  constructor(at: number, part: number | null) {
    this.at = at;
    this.part = part;
  }
  check = (model: Readonly<Model>) => model.open.size > 0;
  async run(model: Model, real: Real): Promise<void> {
    const jobId = pick(model, this.at) ?? '';
    const bill = model.open.get(jobId) ?? { amount: 0, month: '' };
    model.open.delete(jobId);
    if (this.part === null) {
      const release = () => real.store.transaction((tx) => releaseCredits(tx, jobId));
      await release();
      await release();
    } else {
      const row = await real.store.get<{ price: number; quantity: number }>(
        'SELECT price, quantity FROM bills WHERE job_id = ?',
        jobId,
      );
      const { price = 0, quantity = 0 } = row ?? {};
      const done = Math.floor(quantity * this.part);
      const amount = Math.min(done * price, bill.amount);
      const job = { id: jobId, kind: 'subtitle_translation', clientReference: null, quantity: done } as const;
      const settle = () =>
        real.store.transaction(async (tx) =>
          settleCredits(tx, await readReserved(tx, jobId, model.now), job, model.now, real.makeId),
        );
      await settle();
      await settle();
      spend(model, amount);
      model.charged.push({ amount, month: bill.month });
    }
    await check(model, real);
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

class Wait implements fc.AsyncCommand<Model, Real> {
  readonly days: number;
  constructor(days: number) {
    this.days = days;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    model.now += this.days * DAY_MS;
    await check(model, real);
  }
  toString = () => `wait ${this.days} days`;
}

/** Any of them with any numbers, for `fc.commands`. */
export const commands = [
  fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 20 })).map(([c, d]) => new Grant(c, d)),
  fc
    .tuple(fc.integer({ min: 0, max: 20 }), fc.constantFrom(1, 333, 1000))
    .map(([quantity, price]) => new Reserve(quantity, price)),
  fc.tuple(fc.nat(), fc.integer({ min: 0, max: 40 })).map(([at, quantity]) => new Raise(at, quantity)),
  fc.tuple(fc.nat(), fc.constantFrom(null, 0, 0.5, 1, 2)).map(([at, part]) => new End(at, part)),
  fc.integer({ min: 1, max: 15 }).map((days) => new Wait(days)),
];
