/** CSV and JSON made into rows with titles. */

export interface Table {
  readonly titles: readonly string[];
  /** Cells by title. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** The rows of a CSV text with a header, or of a JSON array of objects; a sentence when it is neither. */
export async function readTable(text: string): Promise<Table | string> {
  const table = /^\s*[[{]/.test(text) ? readJson(text) : await readCsv(text);
  if (typeof table === 'string' || table.rows.length > 0) return table;
  return 'has no rows; write a header such as file,to and a row for each input';
}

function readJson(text: string): Table | string {
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch (error) {
    return `looks like JSON but is none: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (!Array.isArray(rows) || !rows.every(isObject))
    return 'must be a JSON array of objects, one for each input';
  return { titles: [...new Set(rows.flatMap(Object.keys))], rows };
}

/** Spreadsheets write commas, semicolons or tabs, by the language of who uses them. */
const DELIMITERS = [',', ';', '\t'];

async function readCsv(text: string): Promise<Table | string> {
  const { parse } = await import('csv-parse/sync');
  const [header = ''] = text.split(/\r\n|\r|\n/, 1);
  const delimiter =
    DELIMITERS.toSorted((left, right) => count(header, right) - count(header, left))[0] ?? ',';
  try {
    const cells: string[][] = parse(text, { bom: true, trim: true, skip_empty_lines: true, delimiter });
    const [titles = [], ...rows] = cells;
    return {
      titles,
      rows: rows.map((row) => Object.fromEntries(titles.map((title, at) => [title, row[at]]))),
    };
  } catch (error) {
    return `is not valid CSV: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
