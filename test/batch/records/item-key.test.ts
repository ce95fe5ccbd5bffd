import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressName, itemKey } from '../../../src/batch/records/item-key.ts';
import { JOB_KIND_NAMES } from '../../../src/protocol/kind-names.ts';

describe('the key of an item', () => {
  it('differs by kind, name, language and template, and is otherwise the same', () => {
    const maybe = fc.option(fc.string());
    const part = fc.tuple(fc.constantFrom(...JOB_KIND_NAMES), fc.string(), maybe, maybe);
    fc.assert(
      fc.property(part, part, (one, two) => {
        const isSame = JSON.stringify(one) === JSON.stringify(two);
        expect(itemKey(...one) === itemKey(...two)).toBe(isSame);
        expect(itemKey(...one)).toBe(itemKey(...one));
      }),
    );
  });
});

describe('the name of an address', () => {
  const base = 'https://example.com/a.mp4';

  it('contains nothing that may be secret', () => {
    expect(addressName(`${base}?key=s3cret#part`)).not.toContain('s3cret');
  });

  it.each([
    '?X-Amz-Date=1&X-Amz-Signature=abc',
    '?X-Goog-Expires=1&x-goog-signature=abc',
    '?Expires=1&Signature=abc&Key-Pair-Id=k',
    '?sv=1&se=2&sig=abc',
  ])('does not depend on the signature: %s', (query) => {
    expect(addressName(base + query)).toBe(base);
  });

  it('distinguishes files that differ only in their query', () => {
    const names = ['?v=1', '?v=2', '?se=1', '?expires=1', ''].map((query) => addressName(base + query));
    expect(new Set(names).size).toBe(names.length);
    expect(addressName(`${base}?v=1&X-Amz-Signature=a`)).toBe(addressName(`${base}?v=1&X-Amz-Signature=b`));
  });
});
