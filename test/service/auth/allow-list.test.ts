import { expect, test } from 'vitest';
import { isAddressAllowed } from '../../../src/service/auth/allow-list.ts';

test.each([
  ['', '203.0.113.9', true],
  ['203.0.113.9', '203.0.113.9', true],
  ['203.0.113.9', '203.0.113.10', false],
  ['203.0.113.0/24', '203.0.113.255', true],
  ['203.0.113.0/24', '203.0.114.0', false],
  ['203.0.113.9', '::ffff:203.0.113.9', true],
  ['203.0.113.0/24', '::ffff:203.0.114.1', false],
  ['2001:db8::/32', '2001:db8::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['198.51.100.1, 2001:db8::1', '2001:db8::1', true],
  ['203.0.113.9', undefined, false],
  ['203.0.113.9', 'localhost', false],
])('the list "%s" and the address %s: %s', (list, address, allowed) => {
  expect(isAddressAllowed(list, address)).toBe(allowed);
});
