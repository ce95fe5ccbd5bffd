import { expect, it } from 'vitest';
import { describeOutlook } from '../../../src/cli/terminal/progress-text.ts';
import type { WorkSummary } from '../../../src/commands/context/context.ts';
import { picture } from '../support/pictures.ts';

const outlookOf = (counts: Partial<WorkSummary['counts']>, leftMs: number | null) =>
  describeOutlook({ ...picture(0, { total: 3, done: 3, ...counts }), leftMs }, 0);

it('shows the time left while something runs or waits', () => {
  expect(outlookOf({ done: 2, running: 1 }, 30_000)).toEqual(['less than a minute left']);
  expect(outlookOf({ done: 2, waiting: 1 }, 130_000)).toEqual(['about 2 min left']);
  expect(outlookOf({ done: 2, waiting: 1 }, null)).toEqual([]);
});

it('shows no time left when everything has ended, whatever the outcome', () => {
  expect(outlookOf({}, 0)).toEqual([]);
  expect(outlookOf({ done: 1, failed: 1, left: 1 }, 0)).toEqual([]);
});
