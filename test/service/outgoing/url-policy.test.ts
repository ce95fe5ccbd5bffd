import { describe, expect, it, test } from 'vitest';
import { isLoopbackAddress, isPublicAddress, isSameAddress } from '../../../src/base/addresses.ts';
import { checkUrl } from '../../../src/service/outgoing/url-policy.ts';
import corpus from './ssrf-corpus.json' with { type: 'json' };

const CLOSED = { allowLoopback: false };
const OPEN = { allowLoopback: true };

describe('the policy for addresses', () => {
  it.each(corpus.deny_url)('refuses %s', (address) => {
    expect(checkUrl(address, CLOSED).ok).toBe(false);
  });

  it.each([
    'https://intranet/',
    'https://router.lan/',
    'https://a.localhost./',
    'https://168.63.129.16/',
    'https://[::ffff:10.0.0.1]/',
    'https://0251.0376.0251.0376/',
    'https://a.home.arpa/',
    'https://a..internal../',
    'example.com/a.mp4',
    '',
  ])('refuses %s', (address) => {
    expect(checkUrl(address, CLOSED).ok).toBe(false);
  });

  it.each([
    'https://example.com/a.mp4?token=1',
    'https://example.com:443/',
    'https://EXAMPLE.com./',
    'https://1.1.1.1/',
    'https://[2606:4700:4700::1111]/',
    'https://münchen.example/',
    'https://local.example.com/',
    'https://notlocalhost.com/',
  ])('permits %s', (address) => {
    expect(checkUrl(address, CLOSED).ok).toBe(true);
  });

  it.each([
    ['http://example.com/', 'https://'],
    ['https://a:b@example.com/', 'user name'],
    ['https://example.com:8443/', '443'],
    ['https://10.0.0.1/', 'public host'],
    ['nonsense', 'well formed'],
  ])('names the fault of %s', (address, words) => {
    expect(checkUrl(address, CLOSED)).toMatchObject({ ok: false, reason: expect.stringContaining(words) });
  });
});

describe('the policy with loopback allowed', () => {
  it.each(['http://127.0.0.1:8080/', 'https://localhost:1/', 'http://a.localhost/', 'https://[::1]:9/'])(
    'permits %s',
    (address) => {
      expect(checkUrl(address, OPEN).ok).toBe(true);
    },
  );

  it.each([
    'http://example.com/',
    'https://example.com:8443/',
    'https://10.0.0.1/',
    'https://169.254.169.254/',
    'http://u@127.0.0.1/',
    'ftp://127.0.0.1/',
    'https://x.internal/',
    'https://localhost.example.com:81/',
  ])('still refuses %s', (address) => {
    expect(checkUrl(address, OPEN).ok).toBe(false);
  });
});

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

test('the corpus is complete', () => {
  expect([corpus.deny_ip.length, corpus.allow_ip.length]).toEqual([52, 7]);
});

test('loopback is distinguished from everything else', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].every(isLoopbackAddress)).toBe(true);
  expect(['10.0.0.1', '0.0.0.0', '::', '8.8.8.8', 'localhost'].some(isLoopbackAddress)).toBe(false);
});

test('one address in two forms is the same, two addresses are not', () => {
  expect(isSameAddress('::ffff:8.8.8.8', '8.8.8.8')).toBe(true);
  expect(isSameAddress('2001:4860::0:1', '2001:4860::1')).toBe(true);
  expect(isSameAddress('8.8.8.8', '8.8.4.4')).toBe(false);
  expect(isSameAddress('', '')).toBe(false);
});
