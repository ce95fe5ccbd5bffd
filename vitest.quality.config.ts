import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Recognition takes as long as all others together. At the end it would leave a core idle. */
class RecognitionFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => moduleId.endsWith('/recognition.test.ts');
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/**
 * `npm run quality`: how good the results of the embedded engines are, with thresholds, over recorded speech and synthetic music.
 * Too much work for `npm test`. The figures are in docs/quality.md.
 */
export default defineConfig({
  test: {
    pool: 'forks',
    include: ['test/quality/**/*.test.ts'],
    // Two cores: one process each, since the engines keep a core busy.
    maxWorkers: 2,
    sequence: { sequencer: RecognitionFirst },
    // A file prepares its clips in a hook: a minute of speech takes half a minute on one core, and several times that on a busy one.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    globalSetup: 'test/structure/run-folder.ts',
    setupFiles: ['test/structure/isolation.ts', 'test/structure/loopback-only.ts'],
  },
});
