/**
 * The candidates at each place of the command line, from the command tree. The build puts the result of `loadTable` in the place of this
 * file: a press of Tab must not load every command.
 */

import { factsOf, type OptionFacts, type OptionTable } from '../base/option.ts';
import { flagName } from '../batch/inputs/field-flags.ts';
import type { Command, Operands } from '../commands/context/command.ts';
import { GLOBAL_OPTIONS } from '../commands/context/global-options.ts';
import { KIND_CHOICES } from '../commands/jobs/list-jobs.ts';
import type { ValueSource } from '../commands/tool/completion-values.ts';
import { COMMAND_ROWS, type CommandRow } from '../commands/tree.ts';
import { typesOf } from '../engines/config-check.ts';
import { BACKEND_STEPS } from '../media/work.ts';
import { HELP_TOPICS } from './help.ts';

/** A value that an option or an operand can have. */
export type Offer =
  | { readonly type: 'choices'; readonly choices: readonly string[] }
  | { readonly type: 'source'; readonly source: ValueSource }
  | { readonly type: 'files' | 'folders' }
  /** `@` followed by the path of a file. */
  | { readonly type: 'at-file' }
  /** A value that only the user knows: a time, a number, a URL. */
  | { readonly type: 'free' };

export interface TableOption {
  /** Its spellings, such as `--output` and `-o`. */
  readonly flags: readonly string[];
  readonly help: string;
  readonly repeats: boolean;
  /** Null for a flag, and for an optional value: what follows it is an operand as a rule. */
  readonly value: Offer | null;
  /** Whether the value is a list, separated by commas. */
  readonly isList: boolean;
}

/** A place on the command line: after `vloc`, after `vloc jobs`, after `vloc jobs wait`. */
export interface Place {
  readonly summary: string;
  /** The commands below it. */
  readonly commands: Readonly<Record<string, Place>>;
  /** Its own options. */
  readonly options: readonly TableOption[];
  readonly operands: (Offer & { readonly count: Operands['count'] }) | null;
}

export interface CompletionTable {
  readonly root: Place;
  /** Options of every place, unless it has one of the same name. */
  readonly global: readonly TableOption[];
}

const FREE: Offer = { type: 'free' };
const FILES: Offer = { type: 'files' };
const FOLDERS: Offer = { type: 'folders' };
const AT_FILE: Offer = { type: 'at-file' };
const KINDS: Offer = { type: 'choices', choices: KIND_CHOICES };
const ENGINE_TYPES: Offer = { type: 'choices', choices: [...new Set(BACKEND_STEPS.flatMap(typesOf))] };

/** By the name of the operand; with the command before it where several use the name. All others are free text. */
const OPERANDS: Readonly<Record<string, Offer>> = {
  input: FILES,
  file: FILES,
  dir: FOLDERS,
  'dir-and-inputs': FILES,
  'subtitles path': FILES,
  step: { type: 'choices', choices: BACKEND_STEPS },
  engine: { type: 'source', source: 'engines' },
  'jobs id': { type: 'source', source: 'jobs' },
  'upload id': { type: 'source', source: 'uploads' },
  'profile name': { type: 'source', source: 'profiles' },
  'models install model': { type: 'source', source: 'models' },
  'models remove model': { type: 'source', source: 'installed-models' },
};

/** By the name of the value in the help. All others are free text. */
const VALUES: Readonly<Record<string, Offer>> = {
  dir: FOLDERS,
  folder: FOLDERS,
  'dir|url': FOLDERS,
  place: FOLDERS,
  file: FILES,
  '@file': AT_FILE,
  json: AT_FILE,
  kind: KINDS,
  kinds: KINDS,
  job: { type: 'source', source: 'jobs' },
  engine: ENGINE_TYPES,
};

const ANSWER = { repeats: false, value: null, isList: false } as const;
const HELP: TableOption = { ...ANSWER, flags: ['--help', '-h'], help: 'display help for command' };
const VERSION: TableOption = { ...ANSWER, flags: ['--version', '-V'], help: 'print the version' };

export async function loadTable(): Promise<CompletionTable> {
  const commands = {
    ...(await commandsOf(COMMAND_ROWS, [])),
    version: leafPlace(VERSION.help),
    help: {
      ...leafPlace('show the help of a command or of a topic'),
      commands: Object.fromEntries(HELP_TOPICS.map(({ name, summary }) => [name, leafPlace(summary)])),
    },
  };
  return {
    root: { ...leafPlace(''), commands, options: [VERSION] },
    global: [...optionsOf(GLOBAL_OPTIONS, null), HELP],
  };
}

function leafPlace(summary: string): Place {
  return { summary, commands: {}, options: [], operands: null };
}

async function commandsOf(
  rows: readonly CommandRow[],
  before: readonly string[],
): Promise<Record<string, Place>> {
  const places = rows.map(async (row) => [row.name, await placeOf(row, [...before, row.name])] as const);
  return Object.fromEntries(await Promise.all(places));
}

async function placeOf(row: CommandRow, words: readonly string[]): Promise<Place> {
  const below = [...(row.children ?? []), ...('groups' in row ? (row.groups ?? []) : [])];
  const place = { ...leafPlace(row.summary), commands: await commandsOf(below, words) };
  if (!('load' in row)) return place;
  const command = await row.load();
  const { fields: columns } = GLOBAL_OPTIONS;
  const own = { ...command.options, ...(command.fields === undefined ? {} : { fields: columns }) };
  return { ...place, options: optionsOf(own, command), operands: operandsOf(command.operands, words) };
}

function optionsOf(table: OptionTable, command: Command | null): TableOption[] {
  return Object.entries(table).map(([name, option]) => {
    const facts = factsOf(option);
    return {
      flags: facts.short === undefined ? [flagName(name)] : [flagName(name), facts.short],
      help: facts.help,
      repeats: ['list', 'texts', 'pairs'].includes(facts.type),
      value: facts.value === null || facts.preset !== undefined ? null : valueOfOption(name, facts, command),
      isList: facts.type === 'list',
    };
  });
}

function operandsOf(operands: Operands | undefined, words: readonly string[]): Place['operands'] {
  if (operands === undefined) return null;
  const { name, choices, count } = operands;
  if (choices !== undefined) return { type: 'choices', choices, count };
  const [first = ''] = words;
  const offer = [words.join(' '), first].map((before) => OPERANDS[`${before} ${name}`]).find(Boolean);
  return { ...(offer ?? OPERANDS[name] ?? FREE), count };
}

function valueOfOption(option: string, { value, choices }: OptionFacts, command: Command | null): Offer {
  if (choices !== undefined) return { type: 'choices', choices };
  if (option === 'profile') return { type: 'source', source: 'profiles' };
  const { options = {}, fields } = command ?? {};
  switch (value) {
    case 'names':
      return fields === undefined ? FREE : { type: 'choices', choices: fields() };
    // The language to produce: a translation target if the command also has a source language, else that of a voice.
    case 'tags':
      return { type: 'source', source: 'from' in options ? 'translation-targets' : 'voices' };
    case 'tag':
      return { type: 'source', source: 'to' in options ? 'translation-sources' : 'recognized' };
  }
  return VALUES[value ?? ''] ?? FREE;
}
