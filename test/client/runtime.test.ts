import { expect, test } from 'vitest';
import { describeDuration } from '../../src/base/amounts.ts';
import { SYSTEM_RUNTIME } from '../../src/client/runtime.ts';
import { firstLine } from '../../src/client/transport/answer.ts';
import { IDEMPOTENCY_KEY_PATTERN } from '../../src/protocol/headers.ts';

test('nonces are single-use and of the form that the contract requires', () => {
  const nonces = Array.from({ length: 1_000 }, () => SYSTEM_RUNTIME.nonce());
  expect(new Set(nonces).size).toBe(1_000);
  expect(nonces.every((nonce) => /^[A-Za-z0-9_-]{16,128}$/.test(nonce))).toBe(true);
});

test('idempotency keys are fresh and of the form that the specification requires', () => {
  const keys = [SYSTEM_RUNTIME.idempotencyKey(), SYSTEM_RUNTIME.idempotencyKey()];
  expect(new Set(keys).size).toBe(2);
  expect(keys.every((key) => IDEMPOTENCY_KEY_PATTERN.test(key))).toBe(true);
});

test('a sleep longer than any timer does not end early, and ends when it is aborted', async () => {
  const controller = new AbortController();
  let over = false;
  const sleeping = SYSTEM_RUNTIME.sleep(2 ** 32, controller.signal).finally(() => {
    over = true;
  });
  sleeping.catch(() => {});
  await SYSTEM_RUNTIME.sleep(10);
  expect(over).toBe(false);
  controller.abort();
  await expect(sleeping).rejects.toThrow();
});

test.each([
  [0, '0 ms'],
  [250, '250 ms'],
  [30_000, '30 s'],
  [30_001, '31 s'],
  [300_000, '5 min'],
  [7_200_000, '2 h'],
  [2_678_400_000, '31 d'],
  [364 * 86_400_000, '364 d'],
  [365 * 86_400_000, 'a year or more'],
  [Number.POSITIVE_INFINITY, 'a year or more'],
])('%d ms are shown as %s', (ms, words) => {
  expect(describeDuration(ms)).toBe(words);
});

test.each([
  ['<html><head><title>Sign in</title></head>', 'Sign in'],
  ['<style>body{color:red}</style>\n<p>  Gone </p>', 'Gone'],
  ['plain\nsecond', 'plain'],
  ['\u001b]0;title\u0007bell \u202eright', ']0;titlebell right'],
  ['<<<<>>', '>'],
  ['', ''],
  [
    '{"type":"about:blank","title":"This address has expired","status":410,"detail":"start a new job"}',
    'This address has expired: start a new job',
  ],
  ['{"message": "Forbidden"}', 'Forbidden'],
  [
    '{"error":{"code":"EXPIRED","message":"the link\\u001b[31m has expired"}}',
    'EXPIRED: the link[31m has expired',
  ],
  ['[{"message":"Too many"}]', 'Too many'],
  ['{"error":"denied","error_description":"denied"}', 'denied'],
  ['{"status":410}', ''],
  ['[proxy] access denied', '[proxy] access denied'],
  ['{"detail":"cut in the mid', ''],
])('the first line of %j is %j', (page, line) => {
  expect(firstLine(Buffer.from(page))).toBe(line);
});

test('the first line of an endless page is short, and searched for only at its beginning', () => {
  expect(firstLine(Buffer.alloc(10 ** 7, 'a')).length).toBe(120);
  expect(firstLine(Buffer.from(`${'a'.repeat(110)} and words`))).toBe(`${'a'.repeat(110)} and words`);
  expect(firstLine(Buffer.from(`${'a'.repeat(110)} and more words`))).toBe(`${'a'.repeat(110)} and…`);
  expect(firstLine(Buffer.from(`${'<'.repeat(10 ** 7)}>late`))).not.toContain('late');
  expect(firstLine(Buffer.from(`${' '.repeat(10 ** 7)}late`))).toBe('');
});
