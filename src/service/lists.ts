/**
 * Lists: query parameters, and keyset pagination with the newest first. Cursors are bound to the operation, the key and the
 * filters of their request. Source: contract, "Lists"; specification, "Common headers and parameters".
 */
import { parseInstant } from '../protocol/instant.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { FieldError } from '../protocol/problem.ts';
import type { ListPage } from '../protocol/resources.ts';
import type { OperationCall, ServiceContext } from './context.ts';
import { refuseField, refuseFields } from './http/refusal.ts';
import type { SqlValue } from './store/store.ts';

/** A parameter that filters by a column: a set of values, or any text up to a length. */
type Filter = { readonly values: readonly string[] } | { readonly maxLength: number };

interface ListQuery {
  readonly limit: number;
  readonly cursor: string | null;
  /** ms since 1970, inclusive; null: no bound. */
  readonly createdAfter: number | null;
  /** ms since 1970, exclusive; null: no bound. */
  readonly createdBefore: number | null;
  readonly filters: ReadonlyMap<string, string>;
}

const LIMIT = /^[1-9]\d?$/;

/**
 * Parses the parameters of a list.
 * @param filters those that this list has in addition to limit, cursor and the two bounds
 * @throws Refusal INVALID_REQUEST that names every invalid parameter
 */
function readListQuery(
  query: ReadonlyMap<string, string>,
  filters: Readonly<Record<string, Filter>>,
): ListQuery {
  const errors: FieldError[] = [];
  const report = (pointer: string, detail: string) => errors.push({ pointer, detail });
  let limit: number = LIMITS.pageSize.default;
  let cursor: string | null = null;
  const bounds: { created_after: number | null; created_before: number | null } = {
    created_after: null,
    created_before: null,
  };
  const chosen = new Map<string, string>();

  for (const [name, value] of query) {
    if (name === 'limit') {
      limit = Number(value);
      const { min, max } = LIMITS.pageSize;
      if (!LIMIT.test(value) || limit > max) report(name, `must be a whole number from ${min} to ${max}`);
    } else if (name === 'cursor') {
      cursor = value;
    } else if (name === 'created_after' || name === 'created_before') {
      const instant = parseInstant(value);
      if (instant === null) report(name, 'must be an existing date and time with a time zone (RFC 3339)');
      bounds[name] = instant;
    } else if (Object.hasOwn(filters, name)) {
      const complaint = checkFilter(filters[name], value);
      if (complaint !== null) report(name, complaint);
      chosen.set(name, value);
    } else {
      report(name, 'this list has no such parameter');
    }
  }
  const { created_after: createdAfter, created_before: createdBefore } = bounds;
  if (createdAfter !== null && createdBefore !== null && createdAfter >= createdBefore) {
    report('created_after', 'must be earlier than created_before');
  }
  if (errors.length > 0) throw refuseFields(errors);
  return { limit, cursor, createdAfter, createdBefore, filters: chosen };
}

function checkFilter(filter: Filter | undefined, value: string): string | null {
  if (filter === undefined) return null;
  if ('values' in filter) {
    return filter.values.includes(value) ? null : `must be one of ${filter.values.join(', ')}`;
  }
  const { length } = [...value];
  return length >= 1 && length <= filter.maxLength ? null : `must be 1 to ${filter.maxLength} characters`;
}

/** The data that a list reads. All names come from the schema, never from a caller. */
interface ListSource<Row, Item> {
  readonly table: 'uploads' | 'jobs' | 'ledger';
  readonly columns: string;
  /** The column that orders the list and that `created_after` and `created_before` limit. */
  readonly timeColumn: 'created_at' | 'posted_at';
  /** Conditions that always apply, in addition to the caller's key. */
  readonly conditions: readonly Condition[];
  /** Filters of the caller, by parameter, which is also the column's name. */
  readonly filters: Readonly<Record<string, Filter>>;
  readonly positionOf: (row: Row) => { time: number; id: string };
  readonly present: (row: Row) => Item | Promise<Item>;
}

interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Reads the requested page. @throws Refusal INVALID_REQUEST for an invalid parameter or a cursor of another list */
export async function readPage<Row, Item>(
  context: Pick<ServiceContext, 'store' | 'cursors'>,
  call: OperationCall,
  source: ListSource<Row, Item>,
): Promise<ListPage<Item>> {
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
  const rows = await context.store.all<Row>(
    `SELECT ${source.columns} FROM ${source.table}
     WHERE ${conditions.map((condition) => condition.sql).join(' AND ')}
     ORDER BY ${source.timeColumn} DESC, id DESC LIMIT ?`,
    ...conditions.flatMap((condition) => condition.values),
    // One row more than requested shows whether there is another page.
    query.limit + 1,
  );
  const shown = rows.slice(0, query.limit);
  const last = shown.at(-1);
  const more = rows.length > query.limit && last !== undefined;
  return {
    object: 'list',
    data: await Promise.all(shown.map(source.present)),
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

/** Everything that must stay the same from page to page. The page size may change. */
function scopeOf(call: OperationCall, query: ListQuery): string {
  const filters = [...query.filters].sort(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify([
    call.operation.operationId,
    call.key.id,
    query.createdAfter,
    query.createdBefore,
    filters,
  ]);
}
