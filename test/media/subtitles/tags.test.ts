import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findPairs } from '../../../src/media/subtitles/tags.ts';

const tag = fc.record({ key: fc.constantFrom('b', 'i'), isEnd: fc.boolean() });

test('pairs of tags do not cross, have one key each, and use no tag twice', () => {
  fc.assert(
    fc.property(fc.array(tag, { maxLength: 12 }), (tags) => {
      const pairs = findPairs(tags);
      expect(new Set(pairs.flatMap(({ begin, end }) => [begin, end])).size).toBe(2 * pairs.length);
      for (const { begin, end } of pairs) {
        expect(begin).toBeLessThan(end);
        expect([tags[begin]?.key, tags[begin]?.isEnd, tags[end]?.isEnd]).toEqual([
          tags[end]?.key,
          false,
          true,
        ]);
        for (const other of pairs)
          expect(other.begin < begin || other.begin > end || other.end <= end).toBe(true);
      }
    }),
  );
});
