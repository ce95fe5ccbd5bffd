import { defineConfig } from 'vitest/config';
import { startWith } from './test/structure/long-files-first.ts';
import { SUITE } from './vitest.suite.ts';

/** Tests outside `test/cluster` that start a server of PostgreSQL or S3: they mirror a file of `src`. */
const MIRRORS = ['test/service/storage/open-s3.test.ts', 'test/service/store/open-postgres.test.ts'];

/** What `npm test` leaves to this suite. */
export const CLUSTER = ['test/cluster/**/*.test.ts', ...MIRRORS];

/**
 * `npm run test:cluster`: several nodes of one service over a real PostgreSQL and a real S3 server from Debian's packages, which
 * all files share that do not stop them, and the conformance suite, whose requests go to one of three nodes at random.
 */
export default defineConfig({
  test: {
    ...SUITE,
    globalSetup: [...SUITE.globalSetup, 'test/structure/cluster-servers.ts'],
    include: [...CLUSTER, 'test/conformance/{resources,traffic}.test.ts'],
    sequence: { sequencer: startWith('conformance/traffic', 'conformance/resources', 'cluster/s3-storage') },
  },
});
