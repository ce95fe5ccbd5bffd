/** Moves global options before the command, as in `vloc --profile prod jobs list`, to where the parser accepts them. */

import { factsOf, type OptionFacts } from '../base/option.ts';
import { flagName } from '../batch/inputs/field-flags.ts';
import { invalidCallFailure } from '../commands/context/command.ts';
import { GLOBAL_OPTIONS } from '../commands/context/global-options.ts';
import { COMMAND_ROWS, type CommandRow } from '../commands/tree.ts';

/** Commands that print and exit, and ignore these options. */
const ANSWERS: ReadonlySet<string> = new Set(['help', 'version', '-h', '--help', '-V', '--version']);

/**
 * The same arguments with the words of the command first.
 * @throws Failure of category usage when no command follows
 */
export function moveLeadingOptions(argv: readonly string[]): readonly string[] {
  const words: string[] = [];
  const options: string[] = [];
  let at = 0;
  let row: CommandRow | undefined;
  let rows: readonly CommandRow[] = COMMAND_ROWS;
  for (;;) {
    const end = endOfOptions(argv, at);
    const next = rows.find(({ name }) => name === argv[end]);
    if (next === undefined) return putTogether({ argv, words, options, row, at, end });
    options.push(...argv.slice(at, end));
    words.push(next.name);
    row = next;
    rows = [...(next.children ?? []), ...('groups' in next ? (next.groups ?? []) : [])];
    at = end + 1;
  }
}

interface Found {
  readonly argv: readonly string[];
  readonly words: readonly string[];
  readonly options: readonly string[];
  /** The last one that was named; undefined before the first. */
  readonly row: CommandRow | undefined;
  /** After its name, and after the options that follow. */
  readonly at: number;
  readonly end: number;
}

function putTogether({ argv, words, options, row, at, end }: Found): readonly string[] {
  const [next] = argv.slice(end);
  if (row === undefined && end > 0) {
    if (next === undefined) {
      throw invalidCallFailure(`a command is missing after ${argv.join(' ')}`, 'See `vloc --help`.');
    }
    return ANSWERS.has(next) ? argv.slice(end) : argv;
  }
  // A group shows its commands, or says which of them it does not know.
  if (row !== undefined && !('load' in row)) return [...words, ...argv.slice(end)];
  return [...words, ...options, ...argv.slice(at)];
}

/** Where the first argument is that belongs to no global option. */
function endOfOptions(argv: readonly string[], from: number): number {
  for (let at = from; ; ) {
    const length = lengthOfOption(argv[at] ?? '');
    if (length === 0) return Math.min(at, argv.length);
    at += length;
  }
}

const BY_FLAG = new Map<string, OptionFacts>(
  Object.entries(GLOBAL_OPTIONS).flatMap(([name, option]) => {
    const facts = factsOf(option);
    const flags = facts.short === undefined ? [flagName(name)] : [flagName(name), facts.short];
    return flags.map((flag) => [flag, facts] as const);
  }),
);

/** How many arguments the option takes that begins with this one; 0 for anything but a global option. */
function lengthOfOption(argument: string): 0 | 1 | 2 {
  if (argument.startsWith('--')) {
    const [flag = ''] = argument.split('=', 1);
    const spec = BY_FLAG.get(flag);
    if (spec === undefined) return 0;
    return spec.type === 'flag' || flag !== argument ? 1 : 2;
  }
  // Short ones may be written together, the last one with its value: `-qo json`, `-ojson`.
  for (const [place, letter] of [...argument].entries()) {
    if (place === 0 && letter === '-') continue;
    const spec = BY_FLAG.get(`-${letter}`);
    if (spec === undefined || place === 0) return 0;
    if (spec.type !== 'flag') return place + 1 < argument.length ? 1 : 2;
  }
  return argument.length > 1 ? 1 : 0;
}
