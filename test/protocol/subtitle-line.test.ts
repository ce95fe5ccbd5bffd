import fc from 'fast-check';
import { it } from 'vitest';
import { isLongerThan } from '../../src/protocol/subtitle-line.ts';
import { anyText } from './arbitraries.ts';

it('the length of a text is counted in characters, not in code units', () => {
  fc.assert(
    fc.property(
      anyText(),
      fc.nat(12),
      (text, limit) => isLongerThan(limit, text) === Array.from(text).length > limit,
    ),
  );
});
