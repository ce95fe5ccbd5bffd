/** The order of test files. */
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node';

/**
 * Returns an order that begins with the files that take longest. At the end they would leave the other cores idle.
 * @param names of files below `test`, without `.test.ts`
 */
export function startWith(...names: readonly string[]): TestSequencerConstructor {
  const isLong = ({ moduleId }: TestSpecification) =>
    names.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sorted = await super.sort(files);
      return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
    }
  };
}
