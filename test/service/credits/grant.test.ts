import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createIdMaker } from '../../../src/protocol/ids.ts';
import { toCredits, toThousandths } from '../../../src/service/credits/amount.ts';
import { grantCredits } from '../../../src/service/credits/grant.ts';
import { migrate } from '../../../src/service/store/schema.ts';
import { openStore } from '../../../src/service/store/store.ts';
import { makeStateDir } from '../harness/scene.ts';
import { START } from './account-model.ts';

async function openLedger() {
  const store = openStore(join(await makeStateDir(), 'ledger.sqlite'), { synchronous: 'NORMAL', advice: '' });
  onTestFinished(() => store.close());
  migrate(store);
  const nextId = createIdMaker(() => 0.5);
  const grant = (credits: number, expiresAt: number | null = null) =>
    grantCredits(store, { credits, expiresAt }, START, (subject) => nextId(subject, START));
  return { store, grant };
}

test('a grant stands in the ledger and among what can be spent, under one id', async () => {
  const { store, grant } = await openLedger();
  grant(1.5, START + 1);
  const line = store.get<{ id: string }>('SELECT id, amount, posted_at, job_id FROM ledger');
  expect(line).toEqual({ id: expect.any(String), amount: 1_500, posted_at: START, job_id: null });
  const spendable = store.all('SELECT * FROM grants');
  expect(spendable).toEqual([{ id: line?.id, remaining: 1_500, expires_at: START + 1 }]);
});

test.each([0, -1, 0.000_4, Number.NaN, Number.POSITIVE_INFINITY, 1e16])(
  'a grant of %d credits is refused and posts nothing',
  async (credits) => {
    const { store, grant } = await openLedger();
    expect(() => grant(credits)).toThrow(new RangeError('a grant must be above 0 credits'));
    expect(store.all('SELECT id FROM ledger')).toEqual([]);
  },
);

test('the smallest grant is a thousandth of a credit', async () => {
  const { store, grant } = await openLedger();
  grant(0.001);
  expect(store.get('SELECT remaining FROM grants')).toEqual({ remaining: 1 });
});

test('a grant that cannot be posted as a whole is not posted at all', async () => {
  const { store, grant } = await openLedger();
  store.script('DROP TABLE grants');
  expect(() => grant(1)).toThrow();
  expect(store.all('SELECT id FROM ledger')).toEqual([]);
});

test('credits are thousandths inside, to the nearest one, and come back as they were', () => {
  expect([0.001, 0.0005, 0.1 + 0.2, 12.345].map(toThousandths)).toEqual([1, 1, 300, 12_345]);
  expect(toCredits(12_345)).toBe(12.345);
});
