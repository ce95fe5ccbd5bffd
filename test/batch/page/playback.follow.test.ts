import { describe, expect, it } from 'vitest';
import { correctDrift } from '../../../src/batch/page/playback.ts';

describe('a player that follows', () => {
  it('is not corrected while nobody sees a difference', () => {
    expect(correctDrift(10, 10.05, 60)).toEqual({ type: 'none' });
  });

  it('runs a little faster if late, slower if early', () => {
    expect(correctDrift(10, 9.8, 60)).toEqual({ type: 'rate', factor: 1.05 });
    expect(correctDrift(10, 10.2, 60)).toEqual({ type: 'rate', factor: 0.95 });
  });

  it('jumps if it is far off, in either direction', () => {
    expect(correctDrift(10, 2, 60)).toEqual({ type: 'seek', to: 10 });
    expect(correctDrift(10, 12, 60)).toEqual({ type: 'seek', to: 10 });
  });

  it('stops if the leader is beyond its end', () => {
    expect(correctDrift(31, 30, 30)).toEqual({ type: 'rest' });
  });

  it('is not assumed to have ended while its length is unknown', () => {
    expect(correctDrift(31, 31, Number.NaN)).toEqual({ type: 'none' });
  });
});
