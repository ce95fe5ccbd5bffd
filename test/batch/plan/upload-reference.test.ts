import { expect, test } from 'vitest';
import { uploadIdOf } from '../../../src/batch/plan/upload-reference.ts';

test.each([
  ['upl_01k9x2m4n6', 'upl_01k9x2m4n6'],
  ['eaf965cb-8c37-4964-80e5-d83f5b5c83a0', 'eaf965cb-8c37-4964-80e5-d83f5b5c83a0'],
  ['uploads/Q-1Zx-471', 'Q-1Zx-471'],
  ['/v1/uploads/Q-1Zx-471', 'Q-1Zx-471'],
  ['uploads/talk.mp4', null],
  ['uploads/lessons', null],
  ['lessons2026', null],
  ['talk.mp4', null],
])('%s names the upload %s', (operand, id) => {
  expect(uploadIdOf(operand)).toBe(id);
});
