/** What a command is: data that help, parsing, completions and documents are made of, and one function that runs it. */
import type { Context } from './context.ts';

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

export type OptionSpec = {
  readonly help: string;
  readonly short?: string;
  /** Under which heading the help shows it; omitted: under `Options:`. */
  readonly group?: HelpGroup;
  /** True for one that the command does not work without. */
  readonly required?: true;
} & (
  | { readonly type: 'flag' }
  | { readonly type: 'text' | 'list' | 'texts' | 'pairs'; readonly value: string }
  | { readonly type: 'duration' | 'number'; readonly value: string }
  | { readonly type: 'choice'; readonly choices: readonly string[]; readonly default?: string }
);

export type OptionTable = Readonly<Record<string, OptionSpec>>;

/** The same options under a heading of the help. */
export function inGroup<const T extends OptionTable>(group: HelpGroup, table: T): T {
  const entries = Object.entries(table).map(([name, spec]) => [name, { ...spec, group }]);
  return Object.fromEntries(entries) as T; // the same names and types
}

/** What the parser hands over for an option: durations in milliseconds, `list` split at commas, `texts` from repetition alone, `pairs` from repeated `name=value`. */
export type OptionValue<O extends OptionSpec> = O extends { type: 'flag' }
  ? boolean
  : O extends { type: 'list' | 'texts' }
    ? readonly string[]
    : O extends { type: 'pairs' }
      ? Readonly<Record<string, string>>
      : O extends { type: 'duration' | 'number' }
        ? number | undefined
        : O extends { type: 'choice'; default: string; choices: readonly (infer Choice)[] }
          ? Choice
          : O extends { type: 'choice'; choices: readonly (infer Choice)[] }
            ? Choice | undefined
            : string | undefined;

export type OptionValues<T extends OptionTable> = { readonly [N in keyof T]: OptionValue<T[N]> };

/** The operands behind the options: one name for all of them. */
export interface Operands {
  readonly name: string;
  readonly help: string;
  /** `any` may also be none. */
  readonly count: 'one' | 'many' | 'any';
  /** How the help writes them where the name alone would say too little. */
  readonly written?: string;
  /** All that there are, for completion; the command itself refuses others. */
  readonly choices?: readonly string[];
}

export interface Example {
  readonly command: string;
  readonly explains: string;
}

export interface Command<T extends OptionTable = OptionTable> {
  readonly operands?: Operands;
  readonly options: T;
  readonly examples: readonly Example[];
  /** Paragraphs behind the options in the help. */
  readonly notes?: readonly string[];
  /** What --fields may name: the fields of each record that it prints; asked for only then. A command without has no records. */
  readonly fields?: () => readonly string[];
  /** Runs it; the number is the exit code. Throws Failure for what went wrong. */
  readonly run: (context: Context, operands: readonly string[], options: OptionValues<T>) => Promise<number>;
}

/** Keeps the literal types of the option table, so that `run` sees exact values. */
export function defineCommand<const T extends OptionTable>(command: Command<T>): Command {
  return command as unknown as Command; // the parser fills exactly the names of this table
}

export { flagName } from '../batch/plan/field-flags.ts';
