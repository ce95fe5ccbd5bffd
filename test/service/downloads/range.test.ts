import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRange } from '../../../src/service/downloads/range.ts';

test.each([
  [undefined, { type: 'whole' }],
  ['bytes=0-9', { type: 'part', start: 0, length: 10 }],
  ['bytes=0-0', { type: 'part', start: 0, length: 1 }],
  ['bytes=90-', { type: 'part', start: 90, length: 10 }],
  ['bytes=90-1000', { type: 'part', start: 90, length: 10 }],
  ['bytes=-1', { type: 'part', start: 99, length: 1 }],
  ['bytes=-1000', { type: 'part', start: 0, length: 100 }],
  ['bytes=100-', { type: 'unsatisfiable' }],
  ['bytes=-0', { type: 'unsatisfiable' }],
  ['bytes=5-4', { type: 'whole' }],
  ['bytes=-', { type: 'whole' }],
  ['bytes=0-1,5-6', { type: 'whole' }],
  ['lines=0-1', { type: 'whole' }],
  ['bytes=a-b', { type: 'whole' }],
  ['bytes=9999999999999999-', { type: 'whole' }],
])('of 100 bytes, %s is %o', (header, part) => {
  expect(readRange(header, 100)).toEqual(part);
});

test('a part lies within the file, whatever is asked', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), fc.nat(), fc.nat(), (junk, first, last, size) => {
      for (const header of [`bytes=${first}-${last}`, `bytes=-${last}`, `bytes=${first}-`, `bytes=${junk}`]) {
        const part = readRange(header, size);
        if (part.type !== 'part') continue;
        expect(part.start).toBeGreaterThanOrEqual(0);
        expect(part.length).toBeGreaterThan(0);
        expect(part.start + part.length).toBeLessThanOrEqual(size);
      }
    }),
  );
});
