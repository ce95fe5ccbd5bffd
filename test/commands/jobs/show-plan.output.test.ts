import { describe, expect, it } from 'vitest';
import type { Forecast } from '../../../src/batch/plan/dry-run.ts';
import { costCells, describeForecast } from '../../../src/commands/jobs/show-plan.ts';
import { describeUnits } from '../../../src/protocol/metering.ts';

const FORECAST: Forecast = {
  object: 'plan',
  kind: 'auto_localization',
  jobs: 2,
  continued: 1,
  done_before: 3,
  failed_before: 0,
  expired: 0,
  not_usable: 0,
  uploads: 1,
  upload_bytes: 2_000_000,
  quantity: 7,
  unmeasured: 1,
  credits: null,
  balance: 10,
  items: [
    {
      input: 'a.mp4',
      target_language: 'es',
      status: 'new',
      job_id: null,
      conversion: null,
      parts: 1,
      unit: 'started_minute',
      quantity: 7,
      credits: null,
      results: null,
      problem: null,
    },
  ],
};

describe('the summary of a plan', () => {
  it('shows what is new, what is not, and that nothing was sent', () => {
    expect(describeForecast(FORECAST)).toEqual([
      'New jobs: 2, 1 upload (2.0 MB), 7 started minutes, 1 of unknown size.',
      'Jobs continued: 1.',
      'Jobs done before: 3.',
      'Cost: not known until the first job reports the price. Available: 10 credits.',
      'Nothing was sent.',
    ]);
  });

  it('reports insufficient credits, and none for the embedded service', () => {
    expect(describeForecast(FORECAST, true)).toContain('Cost: none (embedded service).');
    const cells = [null, 2].flatMap((credits) => [
      costCells({ quantity: null, unit: 'line', credits }, true)[1],
      costCells({ quantity: null, unit: 'line', credits }, false)[1],
    ]);
    expect(cells).toEqual(['none', 'unknown', 'none', '2']);
    expect(describeForecast({ ...FORECAST, credits: 12 })).toContain(
      'Cost: 12 credits. Available: 10 credits, 2 credits too few.',
    );
  });
});

it.each([
  [1, 'started_minute', '1 started minute'],
  [2, 'line', '2 lines'],
  [3, 'frame', '3 frame'],
])('%d of %s are shown as %s', (quantity, unit, told) => {
  expect(describeUnits(quantity, unit)).toBe(told);
});
