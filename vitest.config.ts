import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { startWith } from './test/structure/long-files-first.ts';

/** Suites beside `npm test`, and the files that they take from it. */
const SUITES = {
  /**
   * The tool as a user gets it: packed and installed, in a terminal, in shells and a browser, under the oldest Node, with the built-in
   * engines; whole jobs, kills, and what a machine does to it. Nearly all of it is the work of npm, Node, ffmpeg and Chromium.
   */
  e2e: ['test/e2e/**/*.test.ts', 'test/**/*.e2e.test.ts'],
  /**
   * The suites of the commands again, against a service that answers no more than the specification demands, and commands that are
   * killed at random moments.
   */
  hosted: [
    'test/hosted/**/*.test.ts',
    'test/ledger/**/*.test.ts',
    'test/batch/{run,deliver}/{run-batch.swept,run-batch.swept-minimal,publish.swept}.test.ts',
  ],
  /** Several nodes of one service over a real PostgreSQL and a real S3 server from Debian's packages. The last two mirror a file of `src`. */
  cluster: [
    'test/cluster/**/*.test.ts',
    'test/service/storage/open-s3.test.ts',
    'test/service/store/open-postgres.test.ts',
  ],
  /** How good the results of the built-in engines are, with thresholds, over recorded speech and synthetic music. The figures are in docs/quality.md. */
  quality: [
    'test/quality/**/*.test.ts',
    'test/engines/separate/{separate,separate.surround,stems.faint-background}.test.ts',
    'test/service/media/localization.test.ts',
  ],
} as const;

/** Tests that run only as a part of those in `test/hosted/minimal`. */
const PARTS_OF_HOSTED = [
  'test/batch/run/run-batch.{faults,killed,stopped}.test.ts',
  'test/commands/jobs/preparation{,.killed}.test.ts',
  'test/commands/stages/run-stages-{brought,stopped}.test.ts',
];

/**
 * Tests of `npm test` with a process of their own: they make strings slow for good, load native code that can end a process, or compare
 * processor time, which in a process of many files is also that of its garbage.
 */
const ALONE = [
  'test/protocol/srt.bombs.test.ts',
  'test/engines/backends/sherpa/*.test.ts',
  'test/media/programs/programs.test.ts',
];

/** The files that take longest. Those about nodes of a cluster wait for leases and lost connections: side by side they would leave the cores idle. */
const LONG = [
  'ledger/ledger',
  'cluster/connections',
  'golden/golden',
  'golden/examples.e2e',
  'conformance/resources',
  'conformance/traffic',
  'service/store/open-postgres',
  'hosted/minimal/commands',
  'quality/burned',
  'cluster/lost-worker',
  'hosted/sweeps/sweeps',
  'quality/voices',
  'quality/recognition',
  'quality/separation',
  'commands/models/localize.e2e',
  'cluster/kills',
  'ledger/editors',
  'cluster/s3-storage',
  'batch/page/dom/dom.e2e',
  'e2e/localize',
  'e2e/examples',
];

const SETUP = 'test/structure/run-folder.ts';

const suite = (name: string, test: object) => ({ extends: true as const, test: { name, ...test } });

export default defineConfig({
  test: {
    pool: 'forks',
    execArgv: ['--import', join(import.meta.dirname, 'test/structure/one-string-width.js')],
    // glibc would keep what large buffers leave behind, and each start of a program copies its page table: in a process of many files
    // 30 ms instead of 15. Other systems ignore this.
    env: { MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_ARENA_MAX: '2' },
    // For two cores: a test waits for programs, disks and timers for a fifth of its time, and with three files at a time the
    // cores were idle for an eighth of the run.
    maxWorkers: 4,
    // Real media work, also on a machine whose cores are busy with something else; a test that waits forever still ends.
    testTimeout: 180_000,
    // `.ci/run` runs a failed test once more, and the output says so: there a single mistake of timing must not stop a release.
    retry: Number(process.env.VLOC_TEST_RETRIES ?? 0),
    hookTimeout: 180_000,
    // A state may take as long as the test; a little less, so that the message says which one did not come.
    expect: { poll: { timeout: 170_000 } },
    setupFiles: ['test/structure/isolation.ts', 'test/structure/loopback-only.ts'],
    sequence: { sequencer: startWith(...LONG) },
    tags: [
      {
        name: 'figure',
        description: 'Measured for docs/quality.md only; skipped with --tags-filter=!figure.',
      },
    ],
    // The files share the processes of the workers: to load the sources takes a second for each.
    isolate: false,
    projects: [
      suite('unit-alone', { isolate: true, include: ALONE, globalSetup: SETUP }),
      suite('unit', {
        include: ['test/**/*.test.ts'],
        exclude: [...ALONE, ...Object.values(SUITES).flat(), ...PARTS_OF_HOSTED],
        globalSetup: SETUP,
      }),
      suite('e2e', { include: SUITES.e2e, globalSetup: [SETUP, 'test/e2e/install.ts'] }),
      suite('hosted', { include: SUITES.hosted, globalSetup: SETUP }),
      suite('cluster', {
        include: [...SUITES.cluster, 'test/conformance/{resources,traffic}.test.ts'],
        globalSetup: [SETUP, 'test/structure/cluster-servers.ts'],
      }),
      suite('quality', {
        include: SUITES.quality,
        // A file prepares its clips in a hook: a minute of speech takes half a minute on one core, and several times that on a busy one.
        testTimeout: 600_000,
        hookTimeout: 600_000,
        globalSetup: SETUP,
      }),
    ],
  },
});
