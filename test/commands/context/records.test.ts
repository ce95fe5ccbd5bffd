import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { layOut } from '../../../src/cli/terminal/table.ts';
import { cutFields, plainCell, type RecordForm } from '../../../src/commands/context/records.ts';
import { JOBS, LISTED_JOBS } from '../../../src/commands/jobs/list-jobs.ts';
import { UPLOADS } from '../../../src/commands/uploads/uploads.ts';

const ID = 'loc_01k9x2m4n6p8q0r2s4t6v8w0y2';

/** A row of cells as long as they come. */
function longest(form: RecordForm<never>): string[] {
  return form.columns.map(({ head }) => {
    const { title, shrinks = 0 } = typeof head === 'string' ? { title: head } : head;
    if (['JOB', 'UPLOAD'].includes(title)) return ID;
    return shrinks > 0
      ? 'a long text '.repeat(5)
      : ({ STATUS: 'succeeded', DONE: '100 %', SIZE: '12.3 MB', EXPIRES: 'in 23 h' }[title] ?? '59 min ago');
  });
}

describe('a table of records', () => {
  it.each([
    ['jobs in short', LISTED_JOBS],
    ['jobs', JOBS],
    ['uploads', UPLOADS],
  ])('of %s fits a terminal of 80 columns with its ids whole', async (_, form) => {
    const table = await layOut(
      form.columns.map(({ head }) => head),
      [longest(form)],
      { width: 80 },
    );
    for (const line of table.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(80);
    expect(table).toContain(ID);
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
