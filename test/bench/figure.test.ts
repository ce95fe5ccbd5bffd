import { describe, expect, it } from 'vitest';
import { figureRow, isPlausible } from '../../bench/figure.ts';

describe('a figure', () => {
  const overhead = { name: 'overhead', unit: '×', limit: { atMost: 1.15 }, plausible: [0.3, 30] } as const;

  it('is impossible outside its range, or if it could not be measured', () => {
    const values = [0.02, 31, 0, -1, Number.NaN, Number.POSITIVE_INFINITY];
    expect(values.filter((value) => isPlausible({ ...overhead, value }))).toEqual([]);
    expect(isPlausible({ ...overhead, value: 1.03 })).toBe(true);
  });

  it('is a row with its limit and its value', () => {
    expect(figureRow({ ...overhead, value: 1.034, spread: [1, 1.1] })).toBe(
      '| overhead | ≤ 1.15 × | 1.03 × (1.00 to 1.10) |',
    );
  });
});
