import { expect, test } from 'vitest';
import { startHarness } from './support/harness.ts';
import { json } from './support/scripted-server.ts';

test('the balance is requested without parameters', async () => {
  const body = { object: 'credit_balance', balance_credits: 10, reserved_credits: 1, available_credits: 9 };
  const { client, server } = await startHarness({ fallback: json(200, body) });
  expect(await client.credits.balance()).toMatchObject({ balance_credits: 10, available_credits: 9 });
  expect(server.seen).toMatchObject([{ method: 'GET', target: '/v1/credits' }]);
  expect(server.seen[0]?.headers['idempotency-key']).toBeUndefined();
});

test('the ledger is read in pages, with negative deductions', async () => {
  const line = { id: 'txn_1', amount: -2.5, capability: 'dubbing', job_id: 'dub_1' };
  const page = { object: 'list', data: [line], has_more: true, next_cursor: 'next' };
  const { client, server } = await startHarness({ fallback: json(200, page) });
  const transactions = await client.credits.transactions({ created_after: '2026-11-01T00:00:00+08:00' });
  expect(transactions).toMatchObject({
    has_more: true,
    next_cursor: 'next',
    data: [{ amount: -2.5, unit: null }],
  });
  expect(server.seen[0]?.target).toBe(
    '/v1/credit-transactions?created_after=2026-11-01T00%3A00%3A00%2B08%3A00',
  );
});
