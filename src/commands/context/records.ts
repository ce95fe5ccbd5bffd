/** Records of the service on stdout, in every form that it can take. */
import type { ListPage } from '../../client/index.ts';
import type { Context, TableHead } from './context.ts';
import { formatRelative } from './format.ts';
import type { Presentation } from './output/presentation.ts';

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

/**
 * Prints a list. An empty list is not a failure; a note says so.
 * @param list of which there may be more
 * @param own parts that the command shows in its own way, with notes of its own
 */
export async function printList<Row extends object>(
  context: Context,
  form: RecordForm<Row>,
  list: Pick<ListPage<Row>, 'data'> & Partial<ListPage<Row>>,
  own: Presentation = {},
): Promise<void> {
  const { data, has_more = false, next_cursor = null } = list;
  const { present, terminal } = context;
  if (data.length === 0 && own[present.part] === undefined) terminal.note(`No ${form.plural} found.`);
  if (has_more) {
    const onward = next_cursor === null ? '' : `, or continue with --cursor ${next_cursor}`;
    terminal.note(`There are more ${form.plural}: use --all or a larger --limit${onward}.`);
  }
  const cut = () => data.map((row) => cutFields(row, context.fields));
  await present.show({
    document: () => ({ object: 'list', data: cut(), has_more, next_cursor }),
    events: () => [...cut(), { type: 'summary', count: data.length, has_more, next_cursor }],
    ...presentRows(context, form, data),
    ...own,
  });
}

/** Prints one record; in JSON the record itself. */
export async function printRecord<Row extends object>(
  context: Context,
  form: RecordForm<Row>,
  row: Row,
): Promise<void> {
  const cut = () => cutFields(row, context.fields);
  await context.present.show({
    document: cut,
    events: () => [cut(), { type: 'summary', count: 1 }],
    ...presentRows(context, form, [row]),
  });
}

/** The rows for people, and in forms of columns and ids; in JSON they are in an envelope. */
export function presentRows<Row extends object>(
  { fields, io }: Pick<Context, 'fields' | 'io'>,
  form: RecordForm<Row>,
  data: readonly Row[],
): Required<Pick<Presentation, 'rows' | 'names' | 'ids' | 'pages'>> {
  const columns = chosenColumns(form, fields);
  const nowMs = io.now();
  return {
    ids: () => data.map(form.idOf),
    rows: () => data.map((row) => columns.map(({ field }) => plainCell(row[field]))),
    names: () => columns.map(({ field }) => field),
    pages: () => {
      const head = columns.map((column) => column.head);
      const rows = data.map((row) =>
        columns.map(({ field, text }) => text?.(row, nowMs) ?? tableCell(row[field], nowMs)),
      );
      return rows.length === 0 ? [] : [{ head, rows }];
    },
  };
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
