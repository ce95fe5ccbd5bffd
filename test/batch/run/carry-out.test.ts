/** Which steps are started, and when, for any recipe and any order in which its steps end. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { carryOut, madeOf, type StepEnd } from '../../../src/batch/run/carry-out.ts';
import { type AnyStep, stepsOf } from '../../../src/batch/run/step.ts';

interface TestStep extends AnyStep<TestStep> {}

const step = (id: string, ...needs: readonly TestStep[]): TestStep => ({ does: 'test', id, needs });

/** A recipe that fails instead of being asked forever. */
function limited<T>(recipe: (made: (id: string) => unknown) => T) {
  let looks = 0;
  return (made: (id: string) => unknown): T => {
    looks += 1;
    if (looks > 1000) throw new RangeError('the recipe is asked again and again');
    return recipe(made);
  };
}

const END = fc.constantFrom('made', 'made', 'made', 'unfinished', 'thrown', 'unwanted');

/** Steps that need some of those before them. The last one needs `later` once the first of these has been made. */
const PLAN = fc.array(fc.record({ needs: fc.array(fc.nat(7), { maxLength: 3 }), end: END }), {
  minLength: 2,
  maxLength: 8,
});

it('each step is started once, when all that it needs is made, and what follows from it is found', async () => {
  await fc.assert(
    fc.asyncProperty(
      PLAN,
      fc.array(fc.nat(7), { maxLength: 3 }),
      fc.scheduler(),
      async (plan, later, turns) => {
        const all: TestStep[] = [];
        const at = (places: readonly number[]) => places.flatMap((place) => all[place] ?? []);
        for (const [place, { needs }] of plan.entries()) all.push(step(`${place}`, ...at(needs)));
        const recipe = limited((made) =>
          step('end', ...at([0]), ...at(made('0') === 'value of 0' ? later : [])),
        );
        const endOf = (id: string) => plan[Number(id)]?.end ?? 'made';
        const started: string[] = [];
        const ends = new Map<string, StepEnd>();
        const failures = new Map(all.map(({ id }) => [id, new Error(id)]));
        const done = carryOut(ends, recipe, (ready) =>
          ready.flatMap((each) => {
            const { id, needs } = each;
            if (endOf(id) === 'unwanted') return [];
            expect(needs.map((need) => ends.get(need.id)?.type)).toEqual(needs.map(() => 'made'));
            started.push(id);
            const end = async () => {
              if (endOf(id) === 'thrown') throw failures.get(id);
              // The run of an item has an outcome here, of which nothing is read.
              return endOf(id) === 'made' ? madeOf(`value of ${id}`) : ({ type: 'unfinished' } as StepEnd);
            };
            return [[each, turns.schedule(Promise.resolve()).then(end)]] as const;
          }),
        );
        const outcome = await turns.waitFor(
          done.then(
            (result) => ({ result }),
            (error: unknown) => ({ error }),
          ),
        );
        const isMade = ({ id, needs }: TestStep): boolean => endOf(id) === 'made' && needs.every(isMade);
        const result = step('end', ...at([0]), ...at(plan[0]?.end === 'made' ? later : []));
        const steps = stepsOf(result);
        const due = steps.filter(({ id, needs }) => endOf(id) !== 'unwanted' && needs.every(isMade));
        expect(started.toSorted()).toEqual(due.map(({ id }) => id).toSorted());
        expect([...ends.keys()].toSorted()).toEqual(started.toSorted());
        const first = due.find(({ id }) => endOf(id) === 'thrown');
        expect(outcome).toEqual(first === undefined ? { result } : { error: failures.get(first.id) });
      },
    ),
  );
});

it('a step does not wait for others that it does not need', async () => {
  const { promise: slow, resolve: endSlow } = Promise.withResolvers<StepEnd>();
  const [long, short] = [step('long'), step('short')];
  const after = step('after', short);
  const result = step('result', long, after);
  const started: string[] = [];
  const done = carryOut(
    new Map(),
    limited(() => result),
    (ready) => {
      started.push(...ready.map(({ id }) => id));
      if (ready.includes(after)) endSlow(madeOf('long'));
      return ready.map((each) => [each, each === long ? slow : Promise.resolve(madeOf(each.id))] as const);
    },
  );
  expect(await done).toBe(result);
  expect(started).toEqual(['long', 'short', 'after', 'result']);
});
