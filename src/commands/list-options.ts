/** The options of a list: its query parameters as the table of operations describes them. */

import { flagName, type OptionSpec, type OptionTable } from '../context/command.ts';
import { parseMoment } from '../context/format.ts';
import { Failure } from '../errors/failure.ts';
import { parametersOf } from '../protocol/openapi/parameters.ts';
import { type Action, OPERATIONS } from '../protocol/operations.ts';

/** Names that people expect where the parameter's own would be long. */
const SHORT_NAMES: Readonly<Record<string, string>> = { created_after: 'since', created_before: 'until' };

/** Parameters whose meaning here is wider than on the wire. */
const HELP: Readonly<Record<string, string>> = {
  limit: 'how many at most, over as many pages as it takes (default: 20)',
  cursor: 'continue from a previous next_cursor, with the same filters',
  created_after: 'created at or after: a date, a time with its zone, or an age such as 7d',
  created_before: 'created before: a date, a time with its zone, or an age',
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

const ALL: OptionSpec = { type: 'flag', help: 'everything there is, page after page' };

/** The option table of a list command. */
export function listOptions(action: Action): OptionTable {
  const filters = filterOptions(action).map(({ option, spec }) => [option, spec] as const);
  return { ...Object.fromEntries(filters), all: ALL };
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
  if (type === 'number') return { type, value: 'n', help };
  return { type: 'text', value: type === 'time' ? 'time' : 'text', help };
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** What a list is asked for. */
export interface ListRequest {
  /** Parameters that hold for every page, by their names on the wire. */
  readonly filters: Readonly<Record<string, string>>;
  readonly cursor: string | undefined;
  /** How many in all; infinite with --all. */
  readonly limit: number;
}

/** As many as a screen shows; the same as the service's own page. Source: specification, "List query parameters". */
const DEFAULT_LIMIT = 20;

/**
 * Reads the options of `listOptions`.
 * @param nowMs for times that say how long ago
 * @throws Failure of category usage that names every option at fault
 */
export function readListRequest(
  action: Action,
  options: Readonly<Record<string, unknown>>,
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
  if (typeof limit === 'number' && (!Number.isInteger(limit) || limit < 1)) {
    problems.push({ pointer: '--limit', detail: `must be a whole number from 1 on: ${limit}` });
  }
  if (typeof limit === 'number' && all === true) {
    problems.push({ pointer: '--all', detail: 'and --limit exclude each other' });
  }
  if (problems.length > 0) {
    const message = 'invalid filter; nothing was sent';
    throw new Failure({ category: 'usage', code: 'FILTER_INVALID', message, errors: problems });
  }
  const asked = typeof limit === 'number' ? limit : DEFAULT_LIMIT;
  return {
    filters,
    cursor: typeof options.cursor === 'string' ? options.cursor : undefined,
    limit: all === true ? Number.POSITIVE_INFINITY : asked,
  };
}
