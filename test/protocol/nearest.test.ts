import { expect, it } from 'vitest';
import { nearestName } from '../../src/protocol/nearest.ts';

it.each([
  ['base_ulr', 'base_url'],
  ['Profile', 'profile'],
  ['headerprefix', 'header_prefix'],
  ['to', 'to'],
  ['zz', null],
  ['something', null],
])('%s is near to %s', (given, meant) => {
  expect(nearestName(given, ['profile', 'base_url', 'header_prefix', 'to'])).toBe(meant);
});
