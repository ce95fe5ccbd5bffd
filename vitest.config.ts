import { defineConfig } from 'vitest/config';
import { startWith } from './test/structure/long-files-first.ts';
import { CLUSTER } from './vitest.cluster.config.ts';
import { E2E } from './vitest.e2e.config.ts';
import { HOSTED, PARTS_OF_HOSTED } from './vitest.hosted.config.ts';
import { MEASURED } from './vitest.quality.config.ts';
import { SUITE } from './vitest.suite.ts';

/**
 * Tests with a process of their own: they damage built-in functions or the memory of a WebAssembly module, load native code that can
 * end a process, or work so long that it makes no difference.
 */
const ALONE = [
  'test/engines/{backends/sherpa,separate}/**/*.test.ts',
  'test/engines/capabilities.test.ts',
  'test/golden/golden.test.ts',
  'test/media/programs/programs.test.ts',
  'test/cli/jq.test.ts',
  'test/protocol/srt.bombs.test.ts',
];

export default defineConfig({
  test: {
    ...SUITE,
    sequence: { sequencer: startWith('golden/golden', 'conformance/resources', 'conformance/traffic') },
    // In the order of their names, so that the short files come last and all workers end at about the same time.
    projects: [
      {
        extends: true,
        test: { name: 'alone', include: ALONE, exclude: [...MEASURED] },
      },
      {
        extends: true,
        // All others share the processes of the workers: starting one and loading the sources costs more than most of them.
        test: {
          name: 'together',
          isolate: false,
          include: ['test/**/*.test.ts'],
          // Suites of their own: `npm run test:e2e`, `test:hosted`, `test:cluster` and `quality`.
          exclude: [...ALONE, ...E2E, ...HOSTED, ...PARTS_OF_HOSTED, ...CLUSTER, ...MEASURED],
        },
      },
    ],
  },
});
