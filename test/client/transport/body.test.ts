import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonError, parseJson } from '../../../src/client/transport/answer.ts';

test('the output of JSON.stringify is parsed, with brackets and quotes in strings', () => {
  const text = fc.string({ unit: fc.constantFrom('[', '{', ']', '}', '"', '\\', 'é', '😀') });
  const value = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' });
  fc.assert(
    fc.property(value, fc.array(text), (tree, texts) => {
      const whole = JSON.stringify({ tree, texts });
      expect(JSON.stringify(parseJson(Buffer.from(whole)))).toBe(JSON.stringify(JSON.parse(whole)));
    }),
  );
});

test('a string full of brackets is not deep, 100 levels are not too deep, 101 are', () => {
  expect(parseJson(Buffer.from(JSON.stringify('["'.repeat(500))))).toBe('["'.repeat(500));
  expect(parseJson(Buffer.from('['.repeat(100) + ']'.repeat(100)))).toBeInstanceOf(Array);
  expect(() => parseJson(Buffer.from('['.repeat(101) + ']'.repeat(101)))).toThrow(
    /nested more than 100 deep/,
  );
});

test('parsing any bytes returns a value or a JsonError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        parseJson(Buffer.from(bytes));
      } catch (error) {
        expect(error).toBeInstanceOf(JsonError);
      }
    }),
    { numRuns: 1_000 },
  );
});
