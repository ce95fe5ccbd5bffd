import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { writeXlsx } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { readTableFile } from '../../src/batch/inputs/lists.ts';
import { makeFolder } from '../support/make-folder.ts';

async function readBytes(bytes: Uint8Array) {
  const folder = makeFolder();
  await writeFile(join(folder, 'table'), bytes);
  return readTableFile('table', { cwd: folder, stdin: Readable.from([]) });
}

const SHEET = 'xl/worksheets/sheet1.xml';

/** A workbook whose sheet has these rows, as XML. */
async function workbook(rows: string): Promise<Uint8Array> {
  const parts = unzipSync(await writeXlsx({ sheets: [{ name: 'Table', rows: [['file', 'to']] }] }));
  const xml = strFromU8(parts[SHEET] ?? new Uint8Array()).replace(
    /(?<=<sheetData>).*(?=<\/sheetData>)/s,
    rows,
  );
  return zipSync({ ...parts, [SHEET]: strToU8(xml) });
}

const text = (cell: string, value: string) => `<c r="${cell}" t="inlineStr"><is><t>${value}</t></is></c>`;
const TITLES = `<row r="1">${text('A1', 'file')}${text('B1', 'to')}</row>`;

test('a workbook is a table of texts, with numbers as they are written and without empty rows', async () => {
  const rows = `${TITLES}<row r="3"><c r="A3"><v>12.5</v></c><c r="B3" t="b"><v>1</v></c></row><row r="9">${text('B9', 'es')}</row>`;
  expect(await readBytes(await workbook(rows))).toEqual({
    titles: ['file', 'to'],
    rows: [
      { file: '12.5', to: 'true' },
      { file: '', to: 'es' },
    ],
  });
});

test.each([
  [
    'a formula',
    '<row r="2"><c r="B2"><f>1+1</f><v>2</v></c></row>',
    'has a formula in cell B2; write its text instead',
  ],
  [
    'a formula that is shared',
    '<row r="2"><c r="A2"><f t="shared" si="0"/><v>2</v></c></row>',
    'has a formula in cell A2; write its text instead',
  ],
  [
    'a formula with an error',
    '<row r="2"><c r="A2" t="e"><f>Hola</f><v>#NAME?</v></c></row>',
    'has a formula in cell A2; write its text instead',
  ],
  [
    'a cell far away',
    `<row r="1048576">${text('XFD1048576', 'x')}</row>`,
    'is not a workbook (XLSX) that can be read: Sheet "Table" spans',
  ],
])('a workbook with %s is refused by name', async (_, rows, message) => {
  expect(await readBytes(await workbook(TITLES + rows))).toContain(message);
});

/** Declares another size of the sheet. */
function declare(workbookBytes: Uint8Array, bytes: number): Uint8Array {
  const changed = Buffer.from(workbookBytes);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(unzipSync(changed)[SHEET]?.length ?? 0);
  for (let at = changed.indexOf(size); at >= 0; at = changed.indexOf(size, at))
    changed.writeUInt32LE(bytes, at);
  return changed;
}

test('a workbook that declares more than 100 MB, or unpacks to more than it declares, is refused', async () => {
  const large = await workbook(`${TITLES}<row r="2">${text('A2', 'x'.repeat(1e6))}</row>`);
  expect(await readBytes(declare(large, 150e6))).toBe('is 150 MB when it is unpacked; the limit is 100 MB');
  expect(await readBytes(declare(large, 1_000))).toContain('exceeds limit of 1000 bytes');
});

test('a workbook with a date is refused by name, as a text was typed that became one', async () => {
  const rows = [
    ['file', 'to'],
    ['talk.mp4', new Date(0)],
  ];
  expect(await readBytes(await writeXlsx({ sheets: [{ name: 'Table', rows }] }))).toBe(
    'has a date in cell B2; write its text instead',
  );
});

test('an archive of something else is refused', async () => {
  expect(await readBytes(zipSync({ 'a.txt': strToU8('a') }))).toContain(
    'is not a workbook (XLSX) that can be read',
  );
  expect(await readBytes(Buffer.from('PK\x03\x04'))).toContain('is not a workbook (XLSX) that can be read');
});

test('a table in UTF-16 is read, as spreadsheets save it for Unicode', async () => {
  expect(await readBytes(Buffer.from('\uFEFFfile\tto\r\ntalk.mp4\tes\r\n', 'utf16le'))).toEqual({
    titles: ['file', 'to'],
    rows: [{ file: 'talk.mp4', to: 'es' }],
  });
});
