/** The order of test files. */
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node';

/**
 * Returns an order that begins with the files that take longest. At the end they would leave the other cores idle.
 * @param names of files below `test`, without `.test.ts`, in the order in which they begin
 */
export function startWith(...names: readonly string[]): TestSequencerConstructor {
  const placeOf = ({ moduleId }: TestSpecification) => {
    const place = names.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
    return place === -1 ? names.length : place;
  };
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return (await super.sort(files)).toSorted((left, right) => placeOf(left) - placeOf(right));
    }
  };
}
