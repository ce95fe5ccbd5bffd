import { describe, expect, it } from 'vitest';
import { estimateRemaining, type WorkShare } from '../../../src/commands/screen/progress.ts';

const finished = (units: number | null): WorkShare => ({ units, fraction: 1 });
const waiting = (units: number | null): WorkShare => ({ units, fraction: 0 });
const going = (units: number | null, fraction: number): WorkShare => ({ units, fraction });

describe('the time that a batch will still take', () => {
  it('is unknown until one item is finished', () => {
    expect(estimateRemaining([going(10, 0.9), waiting(10)], 60_000)).toBeNull();
    expect(estimateRemaining([], 60_000)).toBeNull();
    expect(estimateRemaining([finished(1)], 0)).toBeNull();
  });

  it('follows the pace in units, so that long videos count for more than short ones', () => {
    expect(estimateRemaining([finished(2), waiting(8)], 60_000)).toBe(240_000);
    expect(estimateRemaining([finished(8), waiting(2)], 60_000)).toBe(15_000);
  });

  it('counts half-finished work on both sides', () => {
    expect(estimateRemaining([finished(1), going(1, 0.5), going(1, 0)], 60_000)).toBe(60_000);
  });

  it('is not fifteen times too long when the first of fifteen concurrent items is finished', () => {
    const side = Array.from({ length: 14 }, () => going(1, 0.9));
    const left = estimateRemaining([finished(1), ...side], 60_000) ?? 0;
    expect(left).toBeLessThan(10_000);
  });

  it('assumes the usual length for items of unknown length', () => {
    expect(estimateRemaining([finished(4), waiting(null)], 60_000)).toBe(60_000);
    expect(estimateRemaining([finished(null), waiting(null), waiting(null)], 60_000)).toBe(120_000);
  });

  it('is zero at the end', () => {
    expect(estimateRemaining([finished(1), finished(1)], 60_000)).toBe(0);
  });
});
