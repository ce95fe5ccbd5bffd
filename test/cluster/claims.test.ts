/** The rules of claims on a real PostgreSQL server, the same as in `test/service/running/leases.test.ts` on SQLite. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { OPEN_JOBS } from '../../src/service/background.ts';
import { createLeases } from '../../src/service/running/leases.ts';
import { openPostgresAccount } from '../../src/service/store/open-postgres.ts';
import { makeStateDir } from '../service/harness/scene.ts';
import { describeClaimOrder } from '../service/running/claim-order.ts';
import { describeClaims, describePlans } from '../service/running/claims.ts';
import { freshAccount, POSTGRES_PROGRAMS, type PostgresServer, startPostgres } from '../support/postgres.ts';

const NEEDS = POSTGRES_PROGRAMS === null;

let server: PostgresServer;
beforeAll(() => {
  if (!NEEDS) server = startPostgres();
});
afterAll(() => {
  if (!NEEDS) server.stop();
});

async function open() {
  const store = await openPostgresAccount(freshAccount(server), await makeStateDir(), Date.now);
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(NEEDS)('leases in PostgreSQL (needs postgresql: sh .ci/packages)', () => {
  describeClaims(open);
  describeClaimOrder(open);
  describePlans(open, 'EXPLAIN');

  it('are not found in an empty account', async () => {
    const store = await open();
    expect(await createLeases(store, OPEN_JOBS, 'one').claim(Date.now(), true, [])).toBeNull();
  });
});
