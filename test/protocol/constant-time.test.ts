import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalInConstantTime } from '../../src/protocol/constant-time.ts';
import { anyText } from './arbitraries.ts';

describe('the comparison of secrets', () => {
  it('agrees with plain equality, also for texts of different lengths', () => {
    fc.assert(
      fc.property(anyText(), anyText(), (left, right) => {
        expect(equalInConstantTime(left, right)).toBe(left === right);
        expect(equalInConstantTime(left, left)).toBe(true);
      }),
    );
  });

  it('finds a difference at every position', () => {
    const digest = 'a'.repeat(64);
    for (let at = 0; at < digest.length; at += 1) {
      expect(equalInConstantTime(digest, `${digest.slice(0, at)}b${digest.slice(at + 1)}`)).toBe(false);
    }
  });
});
