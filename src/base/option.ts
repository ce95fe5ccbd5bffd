/**
 * Options as valibot schemas of their values, with metadata. Parser, help, completions, the manual page, documents, defaults of
 * `vloc.config.json` and the arguments of tools derive from them.
 */
import * as v from 'valibot';

/** Headings of the help of commands with many options, in their order. */
export const HELP_GROUPS = [
  'Input:',
  'Job:',
  'Subtitles and stages:',
  'Limits:',
  'Output:',
  'General:',
] as const;
export type HelpGroup = (typeof HELP_GROUPS)[number];

/** `list` is split at commas; `texts` and `pairs` (`name=value`) come from repeated options; durations are in milliseconds. */
type OptionType = 'flag' | 'text' | 'list' | 'texts' | 'pairs' | 'duration' | 'number' | 'choice';

/** How an option is written and explained. */
export interface OptionFacts {
  readonly type: OptionType;
  /** Placeholder of the value in the help; null for a flag. */
  readonly value: string | null;
  readonly help: string;
  /** The description of the argument of `vloc mcp`, where the help speaks of the command line. */
  readonly argumentHelp?: string;
  readonly short?: string;
  /** Heading in the help; default: `Options:`. */
  readonly group?: HelpGroup;
  /**
   * How `vloc mcp` offers it. Flags, numbers, times and choices are offered unless this says `no`; texts only if it says what
   * they may be: any text, a name without folders, the path of an input, or that of what is written. `default` is not offered either, but a
   * default of `vloc.config.json` applies.
   */
  readonly tool?: 'no' | 'default' | 'text' | 'name' | 'reads' | 'writes';
  /** True for an option of daily use: the only ones in the help of a command with many options. */
  readonly daily?: true;
  /** True for an option that the command requires. */
  readonly required?: true;
  /** The value of the option without one, as users write it: it makes the value optional. */
  readonly preset?: string;
  readonly choices?: readonly string[];
  /** Default of a choice. */
  readonly default?: string;
}

/** Facts that the functions below do not derive. */
type MoreFacts = Pick<
  OptionFacts,
  'argumentHelp' | 'short' | 'group' | 'tool' | 'daily' | 'required' | 'preset'
>;

/** The schema of an option's value. */
export type Option<Value = unknown> = v.GenericSchema<unknown, Value>;
export type OptionTable = Readonly<Record<string, Option>>;

/** Options by name before they are checked against a table: from the parser, or from records. */
export type RawOptions = Readonly<Record<string, unknown>>;
export type OptionValues<T> = {
  readonly [N in keyof T]: NonNullable<T[N]> extends Option<infer Value> ? Value : never;
};

function createOption<Value>(schema: Option<Value>, option: OptionFacts): Option<Value> {
  return v.pipe(schema, v.metadata({ option }));
}

export function factsOf(option: Option): OptionFacts {
  return v.getMetadata(option).option as OptionFacts; // all options are created by this file
}

/** The same option with other facts. */
export function changeOption<Value>(option: Option<Value>, changes: Partial<OptionFacts>): Option<Value> {
  return createOption(option, { ...factsOf(option), ...changes });
}

/** Puts options under a heading of the help. */
export function inGroup<const T extends OptionTable>(group: HelpGroup, table: T): T {
  const entries = Object.entries(table).map(([name, option]) => [name, changeOption(option, { group })]);
  return Object.fromEntries(entries) as T; // the same names and types
}

export function flagOption(help: string, more: MoreFacts = {}): Option<boolean> {
  const schema = v.optional(v.boolean('expected true or false'), false);
  return createOption(schema, { type: 'flag', value: null, help, ...more });
}

/** Expected of every operand and value: an empty one is mostly a variable that is not set, and as a path it would be the current folder. */
export const NOT_EMPTY = 'expected a value that is not empty';

const GivenText = (expected: string) => v.pipe(v.string(expected), v.nonEmpty(NOT_EMPTY));

export function textOption(value: string, help: string, more: MoreFacts = {}): Option<string | undefined> {
  const schema = v.optional(GivenText('expected a string'));
  return createOption(schema, { type: 'text', value, help, ...more });
}

const LIST = 'expected a list of strings';
const Texts = v.optional(v.array(GivenText(LIST), LIST), []);

export function listOption(value: string, help: string, more: MoreFacts = {}): Option<readonly string[]> {
  return createOption(Texts, { type: 'list', value, help, ...more });
}

export function textsOption(value: string, help: string, more: MoreFacts = {}): Option<readonly string[]> {
  return createOption(Texts, { type: 'texts', value, help, ...more });
}

export function pairsOption(
  value: string,
  help: string,
  more: MoreFacts = {},
): Option<Readonly<Record<string, string>>> {
  const expected = 'expected name=value';
  // An array is an object with numbers as names.
  const isObject = v.check((input: unknown) => !Array.isArray(input), expected);
  const pairs = v.pipe(v.unknown(), isObject, v.record(v.string(), v.string(expected), expected));
  const schema = v.optional(pairs, {});
  return createOption(schema, { type: 'pairs', value, help, ...more });
}

interface DurationRange {
  /** Shortest time, in milliseconds. */
  readonly from?: number;
  readonly expected?: string;
}

export function durationOption(
  help: string,
  { from = 0, expected = 'expected a time such as 90s, 30m or 2h', ...more }: DurationRange & MoreFacts = {},
): Option<number | undefined> {
  const schema = v.optional(v.pipe(v.number(expected), v.minValue(from, expected)));
  return createOption(schema, { type: 'duration', value: 'time', help, ...more });
}

/** Numbers that an option accepts. `from` and `to` are among them. */
interface NumberRange {
  readonly whole?: true;
  readonly from?: number;
  readonly to?: number;
}

/** 0 means any free port. */
export const PORT_RANGE = { whole: true, from: 0, to: 65_535 } as const;

export function numberOption(
  value: string,
  help: string,
  { whole, from, to, ...more }: NumberRange & MoreFacts = {},
): Option<number | undefined> {
  const expected = `expected a ${whole === true ? 'whole ' : ''}number${from === undefined ? '' : ` from ${from}`}${to === undefined ? '' : ` to ${to}`}`;
  const schema = v.pipe(
    v.number(expected),
    whole === true ? v.integer(expected) : v.finite(expected),
    // Without a limit, the JSON Schema has none either.
    from === undefined ? v.metadata({}) : v.minValue(from, expected),
    to === undefined ? v.metadata({}) : v.maxValue(to, expected),
  );
  return createOption(v.optional(schema), { type: 'number', value, help, ...more });
}

export function choiceOption<const Choice extends string>(
  choices: readonly Choice[],
  help: string,
  more: MoreFacts & { readonly default: Choice },
): Option<Choice>;
export function choiceOption<const Choice extends string>(
  choices: readonly Choice[],
  help: string,
  more?: MoreFacts,
): Option<Choice | undefined>;
export function choiceOption(
  choices: readonly string[],
  help: string,
  more: MoreFacts & { readonly default?: string } = {},
): Option<string | undefined> {
  const schema = v.optional(v.picklist(choices, `expected one of ${choices.join(', ')}`), more.default);
  return createOption(schema, { type: 'choice', value: 'choice', choices, help, ...more });
}
