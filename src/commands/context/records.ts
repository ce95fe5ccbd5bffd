/** Records of the service on stdout, in every form that it can take. */
import type { Context, TableHead } from './context.ts';
import { formatRelative } from './format.ts';

/** One column: which field it shows and how people read it. */
export interface Column<Row> {
  readonly head: TableHead;
  readonly field: keyof Row & string;
  /** Default: the value of the field, times relative. */
  readonly text?: (row: Row, nowMs: number) => string;
}

export interface RecordForm<Row> {
  /** The noun in messages. */
  readonly plural: string;
  readonly columns: readonly Column<Row>[];
  readonly idOf: (row: Row) => string;
}

/** Rows, and where the next page begins. */
interface RecordList<Row> {
  readonly data: readonly Row[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** Prints a list. An empty list is not a failure; a note says so. */
export async function printList<Row extends object>(
  context: Context,
  form: RecordForm<Row>,
  list: RecordList<Row>,
): Promise<void> {
  const { data, has_more, next_cursor } = list;
  if (data.length === 0) context.terminal.note(`No ${form.plural} found.`);
  if (has_more) {
    const onward = next_cursor === null ? '' : `, or continue with --cursor ${next_cursor}`;
    context.terminal.note(`There are more ${form.plural}: use --all or a larger --limit${onward}.`);
  }
  const cut = data.map((row) => cutFields(row, context.fields));
  switch (context.output) {
    case 'json':
      context.print(JSON.stringify({ object: 'list', data: cut, has_more, next_cursor }, null, 2));
      return;
    case 'ndjson':
      for (const row of cut) context.print(JSON.stringify(row));
      context.print(JSON.stringify({ type: 'summary', count: data.length, has_more, next_cursor }));
      return;
    default:
      await printRows(context, form, data);
  }
}

/** Prints one record; in JSON the record itself. */
export async function printRecord<Row extends object>(
  context: Context,
  form: RecordForm<Row>,
  row: Row,
): Promise<void> {
  const cut = cutFields(row, context.fields);
  switch (context.output) {
    case 'json':
      context.print(JSON.stringify(cut, null, 2));
      return;
    case 'ndjson':
      context.print(JSON.stringify(cut));
      context.print(JSON.stringify({ type: 'summary', count: 1 }));
      return;
    default:
      await printRows(context, form, [row]);
  }
}

async function printRows<Row extends object>(
  context: Context,
  form: RecordForm<Row>,
  rows: readonly Row[],
): Promise<void> {
  const columns = chosenColumns(form, context.fields);
  if (context.output === 'id') {
    for (const row of rows) context.print(form.idOf(row));
  } else if (context.output === 'plain') {
    for (const row of rows) context.print(columns.map(({ field }) => plainCell(row[field])).join('\t'));
  } else if (rows.length > 0) {
    const nowMs = context.io.now();
    const cells = rows.map((row) =>
      columns.map(({ field, text }) => text?.(row, nowMs) ?? tableCell(row[field], nowMs)),
    );
    context.print(
      await context.terminal.table(
        columns.map(({ head }) => head),
        cells,
      ),
    );
  }
}

/** The fields that --fields names, in its order; all of them without it. */
export function cutFields<Row extends object>(row: Row, fields: readonly string[] | null): object {
  if (fields === null) return row;
  const all = new Map(Object.entries(row));
  return Object.fromEntries(fields.map((field) => [field, all.get(field) ?? null]));
}

/** The columns of the form, or one for each field of --fields. */
function chosenColumns<Row>(form: RecordForm<Row>, fields: readonly string[] | null): readonly Column<Row>[] {
  if (fields === null) return form.columns;
  return fields.map((field) => {
    const known = form.columns.find((column) => column.field === field);
    const name = field as keyof Row & string; // the parser has checked it against the fields of the record
    if (known === undefined) return { head: { title: field.toUpperCase(), wraps: 20 }, field: name };
    const { drops: _, ...head } = typeof known.head === 'string' ? { title: known.head } : known.head;
    return { ...known, head };
  });
}

/** A value for programs: times and numbers as the service wrote them, empty for null. */
export function plainCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  // A tab or a line break in a value would start another column or record.
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replace(/[\t\r\n]+/g, ' ');
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

function tableCell(value: unknown, nowMs: number): string {
  if (typeof value === 'string' && TIME.test(value)) return formatRelative(value, nowMs);
  return plainCell(value) || '-';
}
