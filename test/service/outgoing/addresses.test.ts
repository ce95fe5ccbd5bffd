import { describe, expect, it, test } from 'vitest';
import {
  isLoopbackAddress,
  isPublicAddress,
  isSameAddress,
} from '../../../src/service/outgoing/addresses.ts';
import corpus from './ssrf-corpus.json' with { type: 'json' };

describe('an address of the public internet', () => {
  it.each(corpus.deny_ip)('is not %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(corpus.allow_ip)('is %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(['', 'example.com', '1.2.3', '4000::1', '::ffff:168.63.129.16', 'fe80::1%eth0'])(
    'is not "%s"',
    (text) => {
      expect(isPublicAddress(text)).toBe(false);
    },
  );
});

test('the whole corpus is there', () => {
  expect([corpus.deny_ip.length, corpus.allow_ip.length]).toEqual([52, 7]);
});

test('loopback is told from everything else', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].every(isLoopbackAddress)).toBe(true);
  expect(['10.0.0.1', '0.0.0.0', '::', '8.8.8.8', 'localhost'].some(isLoopbackAddress)).toBe(false);
});

test('one address in two forms is the same, two addresses are not', () => {
  expect(isSameAddress('::ffff:8.8.8.8', '8.8.8.8')).toBe(true);
  expect(isSameAddress('2001:4860::0:1', '2001:4860::1')).toBe(true);
  expect(isSameAddress('8.8.8.8', '8.8.4.4')).toBe(false);
  expect(isSameAddress('', '')).toBe(false);
});
