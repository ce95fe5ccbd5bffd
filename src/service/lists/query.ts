/** The query parameters of lists. Source: specification, "Common headers and parameters". */
import { LIMITS } from '../../protocol/limits.ts';
import type { FieldError } from '../../protocol/problem.ts';
import { refuseFields } from '../http/refusal.ts';

/** A parameter that filters by a column: its values, or any text of that length. */
export type Filter = { readonly values: readonly string[] } | { readonly maxLength: number };

export interface ListQuery {
  readonly limit: number;
  readonly cursor: string | null;
  /** ms since 1970, inclusive; null: no bound. */
  readonly createdAfter: number | null;
  /** ms since 1970, exclusive; null: no bound. */
  readonly createdBefore: number | null;
  readonly filters: ReadonlyMap<string, string>;
}

const LIMIT = /^[1-9]\d?$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * Reads the parameters of a list.
 * @param filters those that this list has beside limit, cursor and the two bounds
 * @throws Refusal INVALID_REQUEST that names every parameter at fault
 */
export function readListQuery(
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
      const instant = INSTANT.test(value) ? Date.parse(value) : Number.NaN;
      if (Number.isNaN(instant)) report(name, 'must be a date and time with a time zone (RFC 3339)');
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
