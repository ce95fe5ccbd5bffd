import { expect, test } from 'vitest';
import { dubGain } from '../../../src/engines/export/sound.ts';

test('the dub is brought to the level of the original speech, within limits', () => {
  expect(dubGain(-18)).toBe(0);
  expect(dubGain(-24)).toBe(-6);
  expect(dubGain(-60)).toBe(-9);
  expect(dubGain(-3)).toBe(9);
  expect(dubGain(null)).toBe(0);
});
