/** The rules of claims on a real PostgreSQL server, the same as in `test/service/running/leases.test.ts` on SQLite. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { OPEN_JOBS } from '../../src/service/background.ts';
import { createLeases } from '../../src/service/running/leases.ts';
import { openPostgresAccount } from '../../src/service/store/open-postgres.ts';
import { runs } from '../protocol/arbitraries.ts';
import { describeClaimOrder } from '../service/running/claim-order.ts';
import { describeClaims, describePlans } from '../service/running/claims.ts';
import { makeFolder } from '../support/make-folder.ts';
import { freshAccount } from '../support/postgres.ts';
import { NO_POSTGRES, useOwnPostgres } from '../support/use-postgres.ts';

// Its plans depend on the statistics of the whole database.
const server = useOwnPostgres();

async function open() {
  const store = await openPostgresAccount(freshAccount(server), makeFolder(), Date.now);
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(NO_POSTGRES)('leases in PostgreSQL (needs postgresql: sh .ci/packages)', () => {
  describeClaims(open);
  // Fewer than in SQLite: the rules are the same, and only the statements are executed by another database.
  describeClaimOrder(open, runs(10, 4000));
  describePlans(open, 'EXPLAIN');

  it('are not found in an empty account', async () => {
    const store = await open();
    expect(await createLeases(store, OPEN_JOBS, 'one').claim(Date.now(), true, [])).toBeNull();
  });
});
