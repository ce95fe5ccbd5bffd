/** Whose turn it is, and who may take it. `test/cluster/claims.test.ts` runs the same rules on PostgreSQL. */
import { describe, expect, it } from 'vitest';
import { describeOwner, nameOwner } from '../../../src/service/running/leases.ts';
import { openEmptyAccount } from '../harness/stores.ts';
import { describeClaimOrder } from './claim-order.ts';
import { describeClaims, describePlans } from './claims.ts';

describe('leases in SQLite', () => {
  const open = async () => (await openEmptyAccount()).store;
  describeClaims(open);
  describeClaimOrder(open);
  describePlans(open, 'EXPLAIN QUERY PLAN');
});

it('an owner is named by its process, and by its machine if that is another one', () => {
  expect(describeOwner('17-0f0f@elsewhere')).toBe('17 on elsewhere');
  expect(describeOwner(nameOwner())).toBe(String(process.pid));
  expect(describeOwner('17-0f0f')).toBe('17');
});
