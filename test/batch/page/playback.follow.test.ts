import { describe, expect, it } from 'vitest';
import { correct } from '../../../src/batch/page/playback.ts';

describe('a player that follows', () => {
  it('is not corrected while nobody sees a difference', () => {
    expect(correct(10, 10.05, 60)).toEqual({ type: 'none' });
  });

  it('runs a little faster if late, slower if early', () => {
    expect(correct(10, 9.8, 60)).toEqual({ type: 'rate', factor: 1.05 });
    expect(correct(10, 10.2, 60)).toEqual({ type: 'rate', factor: 0.95 });
  });

  it('jumps if it is far off, in either direction', () => {
    expect(correct(10, 2, 60)).toEqual({ type: 'seek', to: 10 });
    expect(correct(10, 12, 60)).toEqual({ type: 'seek', to: 10 });
  });

  it('stops if the leader is beyond its end', () => {
    expect(correct(31, 30, 30)).toEqual({ type: 'rest' });
  });

  it('is not assumed to have ended while its length is unknown', () => {
    expect(correct(31, 31, Number.NaN)).toEqual({ type: 'none' });
  });
});
