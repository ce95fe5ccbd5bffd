import { defineConfig } from 'vitest/config';
import { startWith } from './test/structure/long-files-first.ts';
import { SUITE } from './vitest.suite.ts';

/** What `npm test` leaves to this suite: the sound and the picture of the built-in engines, measured. */
export const MEASURED = [
  'test/quality/**',
  'test/engines/separate/{separate,separate.surround,stems.faint-background}.test.ts',
  'test/service/media/localization.test.ts',
];

/**
 * `npm run quality`: how good the results of the embedded engines are, with thresholds, over recorded speech and synthetic music.
 * Too much work for `npm test`. The figures are in docs/quality.md.
 */
export default defineConfig({
  test: {
    ...SUITE,
    include: MEASURED.map((path) => path.replace(/\*\*$/, '**/*.test.ts')),
    tags: [
      {
        name: 'figure',
        description: 'Measured for docs/quality.md only; skipped with --tags-filter=!figure.',
      },
    ],
    // Two cores: one process each, since the engines keep a core busy.
    maxWorkers: 2,
    sequence: { sequencer: startWith('quality/recognition') },
    // A file prepares its clips in a hook: a minute of speech takes half a minute on one core, and several times that on a busy one.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
