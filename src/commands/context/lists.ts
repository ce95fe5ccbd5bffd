/** Lists of the service: their query parameters as options, and their pages. */

import * as v from 'valibot';
import { type Failure, refusedFailure, usageFailure } from '../../base/failure.ts';
import {
  choiceOption,
  flagOption,
  numberOption,
  type Option,
  type OptionTable,
  type OptionValues,
  textOption,
} from '../../base/option.ts';
import { camelCase, flagName } from '../../batch/inputs/field-flags.ts';
import type { ListPage } from '../../client/index.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { queryOf } from '../../protocol/openapi/parameters.ts';
import type { Action } from '../../protocol/operations.ts';
import { parseMoment } from './format.ts';

/** Shorter names for some parameters. */
const SHORT_NAMES: Readonly<Record<string, string>> = { created_after: 'since', created_before: 'until' };

/** Help of parameters that accept more here than in the API. */
const HELP: Readonly<Record<string, string>> = {
  limit: 'maximum number of entries (default: 20)',
  cursor: 'continue from a previous next_cursor, with the same filters',
  created_after: 'created at or after a date, a time with a time zone, or an age such as 7d',
  created_before: 'created before a date, a time with a time zone, or an age',
};

interface FilterOption {
  /** Name of the option, in camel case. */
  readonly name: string;
  /** Name of the query parameter. */
  readonly parameter: string;
  readonly isTime: boolean;
  readonly option: Option;
}

/** Every query parameter of an operation as an option. Source: specification, "List query parameters". */
export function filterOptions(action: Action): readonly FilterOption[] {
  return Object.entries(queryOf(action)).map(([parameter, schema]) => {
    const name = SHORT_NAMES[parameter] ?? camelCase(parameter);
    const help = HELP[parameter] ?? v.getDescription(schema) ?? '';
    const isTime = parameter.startsWith('created_');
    return { name, parameter, isTime, option: createFilter(schema, help, isTime) };
  });
}

function createFilter(schema: v.GenericSchema, help: string, isTime: boolean): Option {
  if ('options' in schema && Array.isArray(schema.options))
    return choiceOption(schema.options.map(String), help);
  if (v.is(schema, 1)) return numberOption('n', help, { whole: true, from: 1 });
  return textOption(isTime ? 'time' : 'text', help, { tool: 'text' });
}

/** The options of every list; the others are filters, which differ. */
type ListTable = OptionTable & {
  readonly limit: Option<number | undefined>;
  readonly cursor: Option<string | undefined>;
  readonly all: Option<boolean>;
};

/** The option table of a list command. */
export function listOptions(action: Action): ListTable {
  const filters = filterOptions(action).map(({ name, option }) => [name, option] as const);
  const all = flagOption('all entries, from all pages');
  return { ...Object.fromEntries(filters), all } as ListTable; // every list has a limit and a cursor
}

/** The request of a list command. */
export interface ListRequest {
  /** Query parameters of every page, by their names in the API. */
  readonly filters: Readonly<Record<string, string>>;
  readonly cursor: string | undefined;
  /** Most rows in total; infinite with --all. */
  readonly limit: number;
}

/** One screen; also the default of the service. Source: specification, "List query parameters". */
const DEFAULT_LIMIT = 20;

/**
 * Reads the options of `listOptions`.
 * @param nowMs the current time, for ages
 * @throws Failure of category usage that names every invalid option
 */
export function readListRequest(
  action: Action,
  options: OptionValues<ListTable>,
  nowMs: number,
): ListRequest {
  const problems: { pointer: string; detail: string }[] = [];
  const filters: Record<string, string> = {};
  for (const { name, parameter, isTime } of filterOptions(action)) {
    const value = options[name];
    if (value === undefined || parameter === 'limit' || parameter === 'cursor') continue;
    const written = isTime ? parseMoment(String(value), nowMs) : String(value);
    if (written !== null) filters[parameter] = written;
    else
      problems.push({
        pointer: flagName(name),
        detail: `not a date, timestamp or age (try 2026-11-21, 2026-11-21T10:00:00Z or 7d): ${value}`,
      });
  }
  const { created_after: after, created_before: before } = filters;
  if (after !== undefined && before !== undefined && after >= before) {
    problems.push({ pointer: '--since', detail: 'must be earlier than --until' });
  }
  const { limit, all } = options;
  if (limit !== undefined && all) {
    problems.push({ pointer: '--all', detail: 'cannot be combined with --limit' });
  }
  if (problems.length > 0) {
    const message = 'invalid filter; nothing was sent';
    throw usageFailure('FILTER_INVALID', message, undefined, { errors: problems });
  }
  return {
    filters,
    cursor: options.cursor,
    limit: all ? Number.POSITIVE_INFINITY : (limit ?? DEFAULT_LIMIT),
  };
}

/** The query of one page. */
interface PageQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/**
 * Reads pages until the limit is reached or the list ends.
 * The last page ends at the limit, so that its cursor continues after the last row.
 * @throws Failure of category refused when the service repeats a cursor
 */
export async function readPages<Row>(
  { limit, cursor }: Pick<ListRequest, 'limit' | 'cursor'>,
  readPage: (query: PageQuery) => Promise<ListPage<Row>>,
): Promise<ListPage<Row>> {
  const data: Row[] = [];
  const seen = new Set<string>();
  let next = cursor;
  for (;;) {
    const page = await readPage({ limit: Math.min(LIMITS.pageSize.max, limit - data.length), cursor: next });
    data.push(...page.data);
    if (!page.has_more || page.next_cursor === null || data.length >= limit) return { ...page, data };
    if (seen.has(page.next_cursor)) throw repeatedCursorFailure();
    seen.add(page.next_cursor);
    next = page.next_cursor;
  }
}

function repeatedCursorFailure(): Failure {
  return refusedFailure(
    'CURSOR_REPEATED',
    'the service returns the same page repeatedly',
    'Report it to the operator of the service; a smaller --limit may help meanwhile.',
  );
}
