/** One page of a list: keyset pagination, newest first. Source: contract, "Lists". */
import type { SQLInputValue } from 'node:sqlite';
import type { ListPage } from '../../protocol/resources.ts';
import type { Call } from '../call.ts';
import type { Context } from '../context.ts';
import { refuseField } from '../http/refusal.ts';
import { type Filter, type ListQuery, readListQuery } from './query.ts';

/** What a list reads; all names are those of the schema, never a caller's. */
export interface ListSource<Row, Item> {
  readonly table: 'uploads' | 'jobs' | 'ledger';
  readonly columns: string;
  /** The column that orders the list and that the two bounds look at. */
  readonly timeColumn: 'created_at' | 'posted_at';
  /** Conditions that always hold, beside the key's own records. */
  readonly conditions: readonly Condition[];
  /** Filters of the caller, by parameter, which is also the column's name. */
  readonly filters: Readonly<Record<string, Filter>>;
  readonly positionOf: (row: Row) => { time: number; id: string };
  readonly present: (row: Row) => Item;
}

export interface Condition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** Reads the page that a call asks for; throws Refusal INVALID_REQUEST for a bad parameter or a foreign cursor. */
export function readPage<Row, Item>(
  context: Pick<Context, 'store' | 'cursors'>,
  call: Call,
  source: ListSource<Row, Item>,
): ListPage<Item> {
  const query = readListQuery(call.query, source.filters);
  const scope = scopeOf(call, query);
  const conditions = [
    { sql: 'key_id = ?', values: [call.key.id] },
    ...source.conditions,
    ...conditionsOf(query, source.timeColumn),
  ];
  if (query.cursor !== null) {
    const position = context.cursors.open(query.cursor, scope);
    if (position === null) {
      throw refuseField('cursor', 'made for another list, key or filter, or changed; start without a cursor');
    }
    conditions.push({ sql: `(${source.timeColumn}, id) < (?, ?)`, values: [position.time, position.id] });
  }
  const rows = context.store.all<Row>(
    `SELECT ${source.columns} FROM ${source.table}
     WHERE ${conditions.map((condition) => condition.sql).join(' AND ')}
     ORDER BY ${source.timeColumn} DESC, id DESC LIMIT ?`,
    ...conditions.flatMap((condition) => condition.values),
    // One more than asked for tells whether there is another page.
    query.limit + 1,
  );
  const shown = rows.slice(0, query.limit);
  const last = shown.at(-1);
  const more = rows.length > query.limit && last !== undefined;
  return {
    object: 'list',
    data: shown.map(source.present),
    has_more: more,
    next_cursor: more ? context.cursors.seal(source.positionOf(last), scope) : null,
  };
}

function conditionsOf(query: ListQuery, timeColumn: string): Condition[] {
  const conditions: Condition[] = [];
  if (query.createdAfter !== null) {
    conditions.push({ sql: `${timeColumn} >= ?`, values: [query.createdAfter] });
  }
  if (query.createdBefore !== null) {
    conditions.push({ sql: `${timeColumn} < ?`, values: [query.createdBefore] });
  }
  for (const [column, value] of query.filters) {
    conditions.push({ sql: `${column} = ?`, values: [value] });
  }
  return conditions;
}

/** Everything that must stay the same from page to page; the page's size may change. */
function scopeOf(call: Call, query: ListQuery): string {
  const filters = [...query.filters].sort(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify([
    call.operation.operationId,
    call.key.id,
    query.createdAfter,
    query.createdBefore,
    filters,
  ]);
}
