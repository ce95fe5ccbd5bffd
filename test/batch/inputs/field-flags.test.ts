import { expect, it } from 'vitest';
import { flagName } from '../../../src/batch/inputs/field-flags.ts';

it('writes the name of an option as a flag', () => {
  expect(flagName('subtitleOutput')).toBe('--subtitle-output');
  expect(flagName('to')).toBe('--to');
});
