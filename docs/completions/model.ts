/**
 * The candidates at each position of the command line, from the command tree. The scripts of all shells are generated
 * from it.
 */

import { factsOf, type OptionFacts, type OptionTable } from '../../src/base/option.ts';
import { flagName } from '../../src/batch/inputs/field-flags.ts';
import { HELP_TOPICS } from '../../src/cli/help.ts';
import type { Command } from '../../src/commands/context/command.ts';
import { GLOBAL_OPTIONS } from '../../src/commands/context/global-options.ts';
import { COMMAND_ROWS, type CommandRow } from '../../src/commands/tree.ts';
import { type Value, valueOfOperands, valueOfOption } from './values.ts';

/** A word and its description, which shells show beside it. */
export interface Candidate {
  readonly word: string;
  readonly explains: string;
}

export interface CompletedOption {
  /** For example `--output`. */
  readonly long: string;
  /** For example `-o`. */
  readonly short: string | null;
  readonly explains: string;
  /** Null for a flag. */
  readonly value: Value | null;
  readonly repeats: boolean;
}

/** A position on the command line: after `vloc`, after `vloc jobs`, after `vloc jobs wait`. */
export interface Place {
  /** The words after `vloc` before this position. */
  readonly words: readonly string[];
  readonly explains: string;
  readonly children: readonly Candidate[];
  readonly options: readonly CompletedOption[];
  /** The operands after the options; null if there are none. */
  readonly operands: Value | null;
}

const HELP: CompletedOption = {
  long: '--help',
  short: '-h',
  explains: 'display help for command',
  value: null,
  repeats: false,
};
const VERSION: CompletedOption = { ...HELP, long: '--version', short: '-V', explains: 'print the version' };
const VERSION_COMMAND: Candidate = { word: 'version', explains: 'print the version' };
const HELP_COMMAND: Candidate = { word: 'help', explains: 'show the help of a command or of a topic' };

/** Returns all positions, the root first, each before those below it. */
export async function listPlaces(): Promise<readonly Place[]> {
  const below = (await Promise.all(COMMAND_ROWS.map((row) => placesOf(row, [])))).flat();
  const rows = COMMAND_ROWS.map(({ name, summary }) => ({ word: name, explains: summary }));
  const root: Place = {
    words: [],
    explains: '',
    children: [...rows, VERSION_COMMAND, HELP_COMMAND],
    options: [VERSION, HELP],
    operands: null,
  };
  return [root, ...below, ...helpPlaces(rows, below)];
}

async function placesOf(row: CommandRow, before: readonly string[]): Promise<Place[]> {
  const words = [...before, row.name];
  const rows = 'load' in row ? [...(row.children ?? []), ...(row.groups ?? [])] : row.children;
  const children = rows.map(({ name, summary }) => ({ word: name, explains: summary }));
  const below = (await Promise.all(rows.map((child) => placesOf(child, words)))).flat();
  const place = { words, explains: row.summary, children };
  if (!('load' in row)) return [{ ...place, options: [HELP], operands: null }, ...below];
  const command = await row.load();
  const options = [...optionsOf(command.options, command), ...optionsOf(GLOBAL_OPTIONS, command), HELP];
  const operands = command.operands === undefined ? null : valueOfOperands(command.operands, words);
  return [{ ...place, options, operands }, ...below];
}

function optionsOf(table: OptionTable, command: Command): CompletedOption[] {
  return Object.entries(table).map(([name, option]) => {
    const facts = factsOf(option);
    return {
      long: flagName(name),
      short: facts.short ?? null,
      explains: facts.help,
      // What follows an option with an optional value is an operand as a rule.
      value: facts.preset === undefined ? valueOfOption(name, facts, command) : null,
      repeats: canRepeat(facts),
    };
  });
}

function canRepeat({ type }: OptionFacts): boolean {
  return type === 'list' || type === 'pairs';
}

/** `vloc help` accepts the words of every command, and the topics. */
function helpPlaces(rows: readonly Candidate[], places: readonly Place[]): Place[] {
  const topics = HELP_TOPICS.map(({ name, summary }) => ({ word: name, explains: summary }));
  const place = { explains: HELP_COMMAND.explains, options: [], operands: null };
  const groups = places.filter(({ children }) => children.length > 0);
  return [
    { ...place, words: ['help'], options: [HELP], children: [...rows, ...topics] },
    ...groups.map(({ words, children }) => ({ ...place, words: ['help', ...words], children })),
  ];
}
