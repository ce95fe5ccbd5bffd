/** A sample of `npm run torture cluster`: kills of nodes and of the database server, while callers create jobs. */
import { expect, it } from 'vitest';
import { POSTGRES_PROGRAMS } from '../support/postgres.ts';
import { runCluster } from '../torture/cluster.ts';

it.skipIf(POSTGRES_PROGRAMS === null)(
  'killed nodes and databases lose no accepted job, charge none twice, and are replaced in time (needs postgresql)',
  async () => {
    const { counts, violations } = await runCluster({
      kills: 3,
      databaseKills: 1,
      faults: [],
      rounds: 0,
      seed: 18,
      tell: () => {},
    });
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ api: 1, worker: 1, finishing: 1, database: 1 });
    expect(counts.jobs).toBeGreaterThan(20);
    expect(counts.takeovers).toBeGreaterThan(0);
  },
);
