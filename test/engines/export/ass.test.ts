import { expect, test } from 'vitest';
import { formatAss } from '../../../src/engines/export/ass.ts';

const dialogue = (text: string) =>
  formatAss([{ index: 1, start_ms: 61_234, end_ms: 3_723_456, text }], { width: 640, height: 360 })
    .split('\n')
    .filter((row) => row.startsWith('Dialogue:'));

test('times are in hundredths of a second', () => {
  expect(dialogue('Hola')).toEqual(['Dialogue: 0,0:01:01.23,1:02:03.46,Default,,0,0,0,,Hola']);
});

test.each([
  ['two\nrows', 'two\\Nrows'],
  ['{\\fs900}{\\p1}m 0 0 l 9 9', 'm 0 0 l 9 9'],
  ['{a} \\N b', '｛a｝ ⧵N b'],
  ['a, b, c', 'a, b, c'],
  ['line\r\n[Events]\r\nDialogue: 0', 'line\\N[Events]\\NDialogue: 0'],
])('%j is shown as it is, on one row of the file', (text, shown) => {
  const rows = dialogue(text);
  expect(rows).toHaveLength(1);
  expect(rows[0]?.split(',').slice(9).join(',')).toBe(shown);
});
