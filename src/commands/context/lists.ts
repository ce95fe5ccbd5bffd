/** Lists of the service: their query parameters as options, and their pages. */

import { type Failure, refusedFailure, usageFailure } from '../../base/failure.ts';
import { camelCase, flagName } from '../../batch/plan/field-flags.ts';
import type { ListPage } from '../../client/index.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { parametersOf } from '../../protocol/openapi/parameters.ts';
import { type Action, OPERATIONS } from '../../protocol/operations.ts';
import type { OptionValues } from './command.ts';
import { parseMoment } from './format.ts';
import type { OptionSpec, OptionTable } from './option-table.ts';

/** Shorter names for some parameters. */
const SHORT_NAMES: Readonly<Record<string, string>> = { created_after: 'since', created_before: 'until' };

/** Help of parameters that accept more here than in the API. */
const HELP: Readonly<Record<string, string>> = {
  limit: 'maximum number of entries (default: 20)',
  cursor: 'continue from a previous next_cursor, with the same filters',
  created_after: 'created at or after a date, a time with a time zone, or an age such as 7d',
  created_before: 'created before a date, a time with a time zone, or an age',
};

interface Parameter {
  readonly name: string;
  readonly help: string;
  readonly type: 'choice' | 'number' | 'time' | 'text';
  readonly choices: readonly string[];
}

interface FilterOption {
  readonly option: string;
  readonly parameter: Parameter;
  readonly spec: OptionSpec;
}

/** Every query parameter of an operation as an option. Source: specification, "List query parameters". */
export function filterOptions(action: Action): readonly FilterOption[] {
  const operation = OPERATIONS.find((each) => each.action === action);
  if (operation === undefined) return [];
  return parametersOf(operation).flatMap((described) => {
    const parameter = readParameter(described);
    if (parameter === null) return [];
    const option = SHORT_NAMES[parameter.name] ?? camelCase(parameter.name);
    return [{ option, parameter, spec: specOf(parameter) }];
  });
}

const ALL = { type: 'flag', help: 'all entries, from all pages' } as const satisfies OptionSpec;

/** The options of every list; the others are filters, which differ. */
type ListTable = OptionTable & {
  readonly limit: OptionSpec & { readonly type: 'number' };
  readonly cursor: OptionSpec & { readonly type: 'text' };
  readonly all: typeof ALL;
};

/** The option table of a list command. */
export function listOptions(action: Action): ListTable {
  const filters = filterOptions(action).map(({ option, spec }) => [option, spec] as const);
  return { ...Object.fromEntries(filters), all: ALL } as ListTable; // every list has a limit and a cursor
}

function readParameter(described: Readonly<Record<string, unknown>>): Parameter | null {
  const { name, description, schema } = described;
  if (described.in !== 'query' || typeof name !== 'string') return null;
  const { enum: values, type, format } = (schema ?? {}) as Readonly<Record<string, unknown>>; // of the document
  const choices = Array.isArray(values) ? values.map(String) : [];
  const help = HELP[name] ?? String(description);
  if (choices.length > 0) return { name, help, choices, type: 'choice' };
  if (type === 'integer') return { name, help, choices, type: 'number' };
  return { name, help, choices, type: format === 'date-time' ? 'time' : 'text' };
}

function specOf({ type, choices, help }: Parameter): OptionSpec {
  if (type === 'choice') return { type, choices, help };
  if (type === 'number') return { type, whole: true, from: 1, value: 'n', help };
  return { type: 'text', value: type === 'time' ? 'time' : 'text', tool: 'text', help };
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
  for (const { option, parameter } of filterOptions(action)) {
    const value = options[option];
    if (value === undefined || parameter.name === 'limit' || parameter.name === 'cursor') continue;
    const written = parameter.type === 'time' ? parseMoment(String(value), nowMs) : String(value);
    if (written !== null) filters[parameter.name] = written;
    else
      problems.push({
        pointer: flagName(option),
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
