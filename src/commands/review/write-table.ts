/** Writes a table of texts as a spreadsheet opens it. Loaded when it is used. */
import { stringify } from 'csv-stringify/sync';
import { XlsxStreamWriter } from 'hucre/xlsx';

type Rows = readonly (readonly string[])[];

/** CSV in UTF-8 with a byte order mark, by which spreadsheets know it. */
export function writeCsv(rows: Rows): string {
  return stringify(
    rows.map((row) => [...row]),
    // Without quotes, a spreadsheet takes the rows of a cell for rows of the table.
    { bom: true, record_delimiter: 'windows', quoted_match: /[\r\n]/ },
  );
}

/** How wide the columns of a workbook are, in characters: those with long texts, and the others. */
const WIDTHS = { text: 40, other: 14 };

/** XLSX, all of whose cells are texts. @param isText whether a column has long texts, by its title */
export function writeWorkbook(rows: Rows, isText: (title: string) => boolean): Promise<Uint8Array> {
  const [titles = []] = rows;
  const columns = titles.map((title) => ({
    width: isText(title) ? WIDTHS.text : WIDTHS.other,
    // A text that somebody types stays a text.
    numFmt: '@',
  }));
  const writer = new XlsxStreamWriter({ name: 'Review', columns, freezePane: { rows: 1 } });
  for (const row of rows) writer.addRow(row.map(escapeReferences));
  return writer.finish();
}

/** `_x0041_` is how the format writes a character, and hucre 1.0.0 does not escape one that is meant as it is. */
function escapeReferences(text: string): string {
  return text.replaceAll(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_');
}
