/** Writes a table of texts as a spreadsheet opens it. */

/** How wide the columns of a workbook are, in characters: those with texts, and the others. */
const WIDTHS = { text: 40, other: 14 };

/** CSV in UTF-8 with a byte order mark, by which spreadsheets know it. */
export async function writeCsv(rows: readonly (readonly string[])[]): Promise<string> {
  const { stringify } = await import('csv-stringify/sync');
  return stringify(
    rows.map((row) => [...row]),
    { bom: true, record_delimiter: 'windows' },
  );
}

/** XLSX, all of whose cells are texts. @param isText whether a column has long texts, by its title */
export async function writeWorkbook(
  rows: readonly (readonly string[])[],
  isText: (title: string) => boolean,
): Promise<Uint8Array> {
  const { writeXlsx } = await import('hucre/xlsx');
  const [titles = []] = rows;
  const columns = titles.map((title) => ({
    width: isText(title) ? WIDTHS.text : WIDTHS.other,
    // A text that somebody types stays a text.
    numFmt: '@',
  }));
  const cells = rows.map((row) => row.map(escapeReferences));
  return writeXlsx({ sheets: [{ name: 'Review', columns, rows: cells, freezePane: { rows: 1 } }] });
}

/** `_x0041_` is how the format writes a character, and hucre 1.0.0 does not escape one that is meant as it is. */
function escapeReferences(text: string): string {
  return text.replaceAll(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_');
}
