import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCursorSealer } from '../../src/service/cursors.ts';

const sealer = createCursorSealer(randomBytes(32), randomBytes);
const position = fc.record({
  time: fc.integer({ min: 0, max: 8_640_000_000_000_000 }),
  id: fc.stringMatching(/^[a-z]{3}_[0-9a-z]{26}$/),
});

test('a cursor opens to the position that it was sealed with, only in its scope', () => {
  fc.assert(
    fc.property(position, fc.string(), fc.string(), (at, scope, other) => {
      const cursor = sealer.seal(at, scope);
      expect(cursor).toMatch(/^[A-Za-z0-9_-]{1,1024}$/);
      expect(sealer.open(cursor, scope)).toEqual(at);
      if (other !== scope) expect(sealer.open(cursor, other)).toBeNull();
    }),
  );
});

test('a cursor with any bit changed, cut short or made longer does not open', () => {
  fc.assert(
    fc.property(position, fc.nat(), fc.nat({ max: 7 }), (at, where, bit) => {
      const cursor = sealer.seal(at, 'scope');
      const bytes = Buffer.from(cursor, 'base64url');
      const index = where % bytes.length;
      bytes.writeUInt8(bytes.readUInt8(index) ^ (1 << bit), index);
      expect(sealer.open(bytes.toString('base64url'), 'scope')).toBeNull();
      expect(sealer.open(cursor.slice(0, where % cursor.length), 'scope')).toBeNull();
      expect(sealer.open(`${cursor}=`, 'scope')).toBeNull();
      expect(sealer.open(`${cursor}A`, 'scope')).toBeNull();
    }),
  );
});

test('no text that was not sealed here opens', () => {
  const foreign = createCursorSealer(randomBytes(32), randomBytes).seal({ time: 1, id: 'x' }, 'scope');
  expect(sealer.open(foreign, 'scope')).toBeNull();
  fc.assert(
    fc.property(fc.string({ maxLength: 1100 }), (text) => {
      expect(sealer.open(text, 'scope')).toBeNull();
    }),
  );
});
