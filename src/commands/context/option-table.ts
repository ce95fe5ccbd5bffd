/** The options of a command as data, for help, parser, completions, documents and tools. */

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
  /** True for an option that the command requires. */
  readonly required?: true;
} & (
  | { readonly type: 'flag' }
  | { readonly type: 'text' | 'list' | 'texts' | 'pairs'; readonly value: string }
  | { readonly type: 'duration'; readonly value: string }
  | ({ readonly type: 'number'; readonly value: string } & NumberRange)
  | { readonly type: 'choice'; readonly choices: readonly string[]; readonly default?: string }
);

/** Which numbers an option accepts. `from` and `to` are among them. */
export interface NumberRange {
  readonly whole?: true;
  readonly from?: number;
  readonly to?: number;
}

/** 0 means any free port. */
export const PORT_RANGE = { whole: true, from: 0, to: 65_535 } as const;

export function isInRange(value: number, { whole, from = -Infinity, to = Infinity }: NumberRange): boolean {
  return (
    Number.isFinite(value) && (whole !== true || Number.isInteger(value)) && value >= from && value <= to
  );
}

/** Such as "a whole number from 1". */
export function describeRange({ whole, from, to }: NumberRange): string {
  const ends = [from === undefined ? '' : ` from ${from}`, to === undefined ? '' : ` to ${to}`];
  return `a ${whole === true ? 'whole ' : ''}number${ends.join('')}`;
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;

/** Options by name before they are checked against a table: from the parser, or from a journal. */
export type RawOptions = Readonly<Record<string, unknown>>;
