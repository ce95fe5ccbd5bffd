/** Reads tables that people write: CSV of any spreadsheet, workbooks, and JSON. */
import { encodingOf } from './text-encoding.ts';

export interface Table {
  readonly titles: readonly string[];
  /** Cells by title. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/**
 * The rows of a CSV file or a workbook with a header, or of a JSON array of objects.
 * @returns the reason as a sentence if it is none of them
 */
export async function readTable(bytes: Uint8Array): Promise<Table | string> {
  if (ZIP.equals(bytes.subarray(0, ZIP.length))) {
    const { readWorkbook } = await import('./workbook.ts');
    const rows = await readWorkbook(bytes);
    return typeof rows === 'string' ? rows : tableOf(rows);
  }
  const text = decodeText(bytes);
  if (text === null) return 'is not UTF-8; save it as CSV in UTF-8';
  return /^\s*[[{]/.test(text) ? readJson(text) : readCsv(text);
}

/** How workbooks begin. */
const ZIP = Buffer.from('PK\x03\x04');

/** Null if it is neither UTF-8 nor UTF-16 with a byte order mark, which is dropped. */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function readJson(text: string): Table | string {
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch (error) {
    return `is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (!Array.isArray(rows) || !rows.every(isObject))
    return 'must be a JSON array of objects, one for each input';
  return { titles: [...new Set(rows.flatMap(Object.keys))], rows };
}

/** Spreadsheets write commas, semicolons or tabs, depending on the language of the user; some let the user choose. */
const DELIMITERS = [',', ';', '\t', '|'];

async function readCsv(text: string): Promise<Table | string> {
  const { parse } = await import('csv-parse/sync');
  const [header = ''] = text.split(/\r\n|\r|\n/, 1);
  const delimiter =
    DELIMITERS.toSorted((left, right) => count(header, right) - count(header, left))[0] ?? ',';
  try {
    // Spreadsheets write rows of separators alone below the last one.
    const empty = { skip_empty_lines: true, skip_records_with_empty_values: true };
    return tableOf(parse(text, { bom: true, trim: true, ...empty, delimiter }));
  } catch (error) {
    return `is not valid CSV: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** A table whose first row has the titles. */
function tableOf([titles = [], ...rows]: readonly (readonly string[])[]): Table {
  return {
    titles,
    rows: rows.map((row) => Object.fromEntries(titles.map((title, at) => [title, row[at]]))),
  };
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
