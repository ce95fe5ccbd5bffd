import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createIdMaker } from '../../../src/protocol/ids.ts';
import { grantCredits, monthOf } from '../../../src/service/credits/account.ts';
import { openEmptyAccount } from '../harness/stores.ts';
import { START } from './account-model.ts';

/** What the system's own tables of time zones say. */
const calendar = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'Asia/Shanghai',
  year: 'numeric',
  month: '2-digit',
});
const nameOf = (at: number) => calendar.format(at).slice(0, 7);

test('the month is that of the calendar in Shanghai, also around its ends', () => {
  const month = fc.record({ year: fc.integer({ min: 2020, max: 2090 }), month: fc.nat({ max: 11 }) });
  fc.assert(
    fc.property(month, fc.integer({ min: -100_000, max: 100_000 }), ({ year, month: index }, offset) => {
      const at = Date.UTC(year, index) - 8 * 3_600_000 + offset;
      const { name, endsAt } = monthOf(at);
      expect(name).toBe(nameOf(at));
      expect(endsAt).toBeGreaterThan(at);
      expect(nameOf(endsAt - 1)).toBe(name);
      expect(nameOf(endsAt)).not.toBe(name);
    }),
    { numRuns: 1000 },
  );
});

test('a month has four digits for its year and two for its own number', () => {
  const january = Date.UTC(2027, 0, 1) - 8 * 3_600_000;
  expect(monthOf(january)).toEqual({ name: '2027-01', endsAt: Date.UTC(2027, 1, 1) - 8 * 3_600_000 });
  expect(monthOf(january - 1)).toEqual({ name: '2026-12', endsAt: january });
  expect(monthOf(Date.UTC(999, 9, 15)).name).toBe('0999-10');
});

async function openLedger() {
  const { store, file } = await openEmptyAccount();
  const nextId = createIdMaker(() => 0.5);
  const grant = (credits: number, expiresAt: number | null = null) =>
    store.transaction((tx) =>
      grantCredits(tx, { credits, expiresAt }, START, (subject) => nextId(subject, START)),
    );
  return { store, file, grant };
}

test('a grant is listed in the ledger and among the spendable credits, under one id', async () => {
  const { store, grant } = await openLedger();
  await grant(1.5, START + 1);
  const line = await store.get<{ id: string }>('SELECT id, amount, posted_at, job_id FROM ledger');
  expect(line).toEqual({ id: expect.any(String), amount: 1_500, posted_at: START, job_id: null });
  const spendable = await store.all('SELECT * FROM grants');
  expect(spendable).toEqual([{ id: line?.id, remaining: 1_500, expires_at: START + 1 }]);
});

test.each([0, -1, 0.000_4, Number.NaN, Number.POSITIVE_INFINITY, 1e16])(
  'a grant of %d credits is refused and posts nothing',
  async (credits) => {
    const { store, grant } = await openLedger();
    await expect(grant(credits)).rejects.toThrow(new RangeError('a grant must be above 0 credits'));
    expect(await store.all('SELECT id FROM ledger')).toEqual([]);
  },
);

test('the smallest grant is a thousandth of a credit', async () => {
  const { store, grant } = await openLedger();
  await grant(0.001);
  expect(await store.get('SELECT remaining FROM grants')).toEqual({ remaining: 1 });
});

test('a grant that cannot be posted as a whole is not posted', async () => {
  const { store, file, grant } = await openLedger();
  file.script('DROP TABLE grants');
  await expect(grant(1)).rejects.toThrow();
  expect(await store.all('SELECT id FROM ledger')).toEqual([]);
});
