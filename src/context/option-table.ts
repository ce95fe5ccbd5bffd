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
  readonly short?: string;
  /** Heading in the help; default: `Options:`. */
  readonly group?: HelpGroup;
  /**
   * How `vloc mcp` offers it. Flags, numbers, times and choices are offered unless this says `no`; texts only if it says what
   * they may be: any text, a name without folders, or the path of what is written. `default` is not offered either, but a
   * default of `vloc.config.json` applies.
   */
  readonly tool?: 'no' | 'default' | 'text' | 'name' | 'writes';
  /** True for an option that the command requires. */
  readonly required?: true;
} & (
  | { readonly type: 'flag' }
  | { readonly type: 'text' | 'list' | 'texts' | 'pairs'; readonly value: string }
  | { readonly type: 'duration' | 'number'; readonly value: string }
  | { readonly type: 'choice'; readonly choices: readonly string[]; readonly default?: string }
);

export type OptionTable = Readonly<Record<string, OptionSpec>>;

/** Options by name before they are checked against a table: from the parser, or from a journal. */
export type RawOptions = Readonly<Record<string, unknown>>;
