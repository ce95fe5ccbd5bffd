import { describe, expect, it } from 'vitest';
import { correct } from '../../src/report-page/follow.ts';

describe('a player that follows', () => {
  it('is left alone while nobody sees a difference', () => {
    expect(correct(10, 10.05, 60)).toEqual({ type: 'none' });
  });

  it('runs a little faster when behind, slower when ahead', () => {
    expect(correct(10, 9.8, 60)).toEqual({ type: 'rate', factor: 1.05 });
    expect(correct(10, 10.2, 60)).toEqual({ type: 'rate', factor: 0.95 });
  });

  it('jumps when it is far off, at either side', () => {
    expect(correct(10, 2, 60)).toEqual({ type: 'seek', to: 10 });
    expect(correct(10, 12, 60)).toEqual({ type: 'seek', to: 10 });
  });

  it('rests when the leader is beyond its end', () => {
    expect(correct(31, 30, 30)).toEqual({ type: 'rest' });
  });

  it('is not thought to have ended while its length is unknown', () => {
    expect(correct(31, 31, Number.NaN)).toEqual({ type: 'none' });
  });
});
