import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ROW_CHARACTERS, wrapText } from '../../../src/engines/text/wrap.ts';

test('short text stays on one row', () => {
  expect(wrapText('He was not an ill disposed young man.')).toBe('He was not an ill disposed young man.');
});

test('longer text is set in rows of about the same length', () => {
  expect(
    wrapText('Had he married a more amiable woman he might have been made still more respectable.'),
  ).toBe('Had he married a more amiable\nwoman he might have been made\nstill more respectable.');
  expect(wrapText('He might even have been made amiable himself in the end')).toBe(
    'He might even have been made\namiable himself in the end',
  );
});

test('no word is lost or torn, and no row is longer than it may be', () => {
  const words = fc.array(fc.string({ minLength: 1, maxLength: 12 }).map((word) => word.replace(/\s/g, '-')));
  fc.assert(
    fc.property(words, (list) => {
      const rows = wrapText(list.join(' ')).split('\n');
      expect(rows.join(' ')).toBe(list.join(' '));
      for (const row of rows) expect(row.length).toBeLessThanOrEqual(ROW_CHARACTERS);
    }),
  );
});
