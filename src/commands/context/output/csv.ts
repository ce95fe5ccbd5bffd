import { type OutputForm, writeDocument } from './presentation.ts';

/** Comma-separated values for spreadsheets, with the names of the fields first. Source: RFC 4180. */
export const csv: OutputForm = {
  part: 'rows',
  text: 'laid out',
  write: (shown) => {
    if (shown.rows === undefined) return writeDocument(shown);
    const [head, rows] = [shown.names?.() ?? [], shown.rows()];
    return head.length + rows.length === 0 ? [] : [{ head, rows }];
  },
  layOut: async ({ head, rows }) => {
    const { stringify } = await import('csv-stringify/sync');
    const lines = rows.map((cells) => cells.map(asText));
    return stringify(head.length === 0 ? lines : [head, ...lines]).slice(0, -1);
  },
};

/** Spreadsheets take text that begins like this for a formula, unless a quote precedes it. Source: OWASP, "CSV Injection". */
const FORMULA = /^[=+\-@\t\r]/;

function asText(cell: string): string {
  return FORMULA.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell;
}
