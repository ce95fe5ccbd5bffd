import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { layOut } from '../../../src/cli/terminal/table.ts';
import { TRANSACTIONS } from '../../../src/commands/account/credits-history.ts';
import { ITEMS } from '../../../src/commands/batch/items.ts';
import { cutFields, plainCell } from '../../../src/commands/context/records.ts';
import { JOBS, LISTED_JOBS } from '../../../src/commands/jobs/list-jobs.ts';
import { UPLOADS } from '../../../src/commands/uploads/uploads.ts';

const ID = 'loc_01k9x2m4n6p8q0r2s4t6v8w0y2';

const CELLS: Readonly<Record<string, string>> = {
  JOB: ID,
  UPLOAD: ID,
  ITEM: 'lessons/week1/introduction.mp4 → es',
  INPUT: 'lessons/week1/introduction.mp4',
  FILE: 'introduction-of-week-1.mp4',
  KIND: 'subtitle_translation',
  FOR: 'subtitle_translation',
  STATUS: 'succeeded',
  STATE: 'not started',
  QUANTITY: '12 started minutes',
  CREDITS: '-1200.5',
  DONE: '100 %',
  SIZE: '12.3 MB',
  WHY: 'INPUT_INVALID: the video has no sound that could be recognized (retryable)',
  ERROR: 'the video has no sound that could be recognized',
};

describe.each([
  ['jobs in short', LISTED_JOBS, ['JOB', 'INPUT', 'STATUS']],
  ['jobs', JOBS, ['JOB', 'STATUS', 'ERROR']],
  ['uploads', UPLOADS, ['UPLOAD', 'STATUS', 'FILE']],
  ['items', ITEMS, ['ITEM', 'STATE', 'WHY']],
  ['charges', TRANSACTIONS, ['JOB', 'CREDITS']],
])('a table of %s', (_, form, needed) => {
  const head = form.columns.map((column) => column.head);
  const titles = head.map((each) => (typeof each === 'string' ? each : each.title));
  const row = titles.map((title) => CELLS[title] ?? '59 min ago');
  const squeeze = (text: string) => text.replace(/\s+/g, '');

  it.each([80, 100])('fits %d columns, with what a person needs', (width) => {
    const lines = layOut(head, [row], { width }).split('\n');
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
    const [shown = ''] = lines;
    for (const title of needed) {
      const from = shown.indexOf(title);
      const next = shown.slice(from).search(/(?<=\s)\S/);
      const column = lines.slice(1).map((line) => line.slice(from, next < 0 ? undefined : from + next));
      expect(squeeze(column.join(' '))).toBe(squeeze(CELLS[title] ?? ''));
    }
  });

  it('has every cell whole at 40 columns', () => {
    const text = squeeze(layOut(head, [row], { width: 40 }));
    for (const title of needed) expect(text).toContain(squeeze(CELLS[title] ?? ''));
  });
});

it('reduces records to fields in the requested order', () => {
  expect(JSON.stringify(cutFields({ a: 1, b: 2, c: 3 }, ['c', 'a']))).toBe('{"c":3,"a":1}');
});

it.each([
  [null, ''],
  ['a\tb\nc', 'a b c'],
  [12.5, '12.5'],
  [{ code: 'X' }, '{"code":"X"}'],
])('writes %j as a column of plain text', (value, cell) => {
  expect(plainCell(value)).toBe(cell);
});
