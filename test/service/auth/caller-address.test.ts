import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createAddressReader, isAddressAllowed } from '../../../src/service/auth/caller-address.ts';

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

function request(remoteAddress: string, forwarded?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const message = new IncomingMessage(socket);
  if (forwarded !== undefined) message.headers['x-forwarded-for'] = forwarded;
  return message;
}

test('without a trusted proxy, headers do not change where a request comes from', () => {
  const read = createAddressReader([]);
  expect(read(request('203.0.113.9', '192.0.2.1'))).toBe('203.0.113.9');
});

test('a trusted proxy names the caller; addresses added by the caller are ignored', () => {
  const read = createAddressReader(['10.0.0.0/8', '::1']);
  expect(read(request('10.0.0.1', '198.51.100.1, 192.0.2.1'))).toBe('192.0.2.1');
  expect(read(request('10.0.0.1', '198.51.100.1, 192.0.2.1, 10.9.9.9'))).toBe('192.0.2.1');
  expect(read(request('::ffff:10.0.0.1', '192.0.2.1'))).toBe('192.0.2.1');
  expect(read(request('203.0.113.9', '192.0.2.1'))).toBe('203.0.113.9');
});

test('a trusted proxy that names nobody is itself the caller', () => {
  const read = createAddressReader(['::1']);
  expect(read(request('::1'))).toBe('::1');
});

test('hops are read with ports and brackets; an invalid address is not a caller', () => {
  const read = createAddressReader(['10.0.0.1']);
  expect(read(request('10.0.0.1', '192.0.2.1:5555'))).toBe('192.0.2.1');
  expect(read(request('10.0.0.1', '[2001:db8::1]:5555'))).toBe('2001:db8::1');
  expect(read(request('10.0.0.1', '2001:db8::1'))).toBe('2001:db8::1');
  for (const hop of ['unknown', '', '192.0.2.1.', 'evil.example']) {
    expect(read(request('10.0.0.1', `192.0.2.1, ${hop}`))).toBeUndefined();
  }
});
