import { expect, test } from 'vitest';
import { canonicalJson } from '../../src/base/json.ts';

test('canonical JSON has sorted keys at every depth and keeps the order of arrays', () => {
  expect(canonicalJson({ b: [{ d: 1, c: null }, 'x'], a: true })).toBe(
    '{"a":true,"b":[{"c":null,"d":1},"x"]}',
  );
});
