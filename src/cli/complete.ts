/**
 * Answers the completion scripts of the shells. `vloc completion complete -- WORDS` gets the words after `vloc` up to the cursor, the last of
 * them the one to complete, perhaps empty. The first line is `KIND<Tab>KEPT`: `words`, or also `files` or `folders`, which the shell
 * completes itself; each further line is `WORD<Tab>DESCRIPTION`. KEPT is the beginning of the last word that the candidates follow, such as
 * `--to=es,`. Shells leave out what does not fit to the rest of it, as their users have set them up.
 */

import { listValues, type Sources, type Suggestion } from '../commands/tool/completion-values.ts';
import type { CompletionTable, Offer, Place, TableOption } from './completion-table.ts';

interface Completion {
  readonly kind: 'words' | 'files' | 'folders';
  readonly kept: string;
  readonly suggestions: readonly Suggestion[];
}

/** A shell may insert it again without the quotes around it. */
const PLAIN = /^[\w.@+:/=,-]*$/;

/** The answer for the words before the cursor. */
export async function completeWords(
  table: CompletionTable,
  words: readonly string[],
  around: Sources,
): Promise<string> {
  // PowerShell drops an empty argument, so its script sends a space.
  const current = (words.at(-1) ?? '').trim();
  const { kind, kept, suggestions } = await findCandidates(walk(table, words.slice(0, -1)), current, around);
  if (!PLAIN.test(kept)) return 'words\t\n';
  const lines = suggestions.map(({ value, explains }) => `${value}\t${explains.replace(/\p{Cc}+/gu, ' ')}\n`);
  return [`${kind}\t${kept}\n`, ...new Set(lines)].join('');
}

async function findCandidates(position: Position, current: string, around: Sources): Promise<Completion> {
  const { place, options, given, operands, expected, isLiteral } = position;
  if (expected !== null) return offerValue(expected, current, '', around);
  if (!isLiteral && current.startsWith('-')) {
    const { taker, value } = readOption(current, options);
    if (taker !== undefined && value !== null) {
      return offerValue(taker, value, current.slice(0, current.length - value.length), around);
    }
    const left = options.filter((each) => each.repeats || !given.has(each));
    return listWords(left.flatMap(({ flags, help }) => flags.map((flag) => suggest(flag, help))));
  }
  const isFirst = operands.length === 0 && !isLiteral;
  const commands = isFirst
    ? Object.entries(place.commands).map(([name, { summary }]) => suggest(name, summary))
    : [];
  if (place.operands === null || (place.operands.count === 'one' && operands.length > 0)) {
    return listWords(commands);
  }
  const offered = await offer(place.operands, current, '', around);
  const others = offered.suggestions.filter(({ value }) => !operands.includes(value));
  return { ...offered, suggestions: [...commands, ...others] };
}

interface Position {
  readonly place: Place;
  /** All that are possible there. */
  readonly options: readonly TableOption[];
  readonly given: ReadonlySet<TableOption>;
  readonly operands: readonly string[];
  /** The option whose value comes next. */
  readonly expected: TableOption | null;
  /** Whether everything is an operand, after `--`. */
  readonly isLiteral: boolean;
}

function walk({ root, global }: CompletionTable, before: readonly string[]): Position {
  const given = new Set<TableOption>();
  const operands: string[] = [];
  let place = root;
  let options = optionsAt(place, global);
  let expected: TableOption | null = null;
  let isLiteral = false;
  let isHelp = false;
  for (const word of before) {
    if (expected !== null) expected = null;
    else if (word === '--') isLiteral = true;
    else if (!isLiteral && /^-./.test(word)) {
      const { found, taker, value } = readOption(word, options);
      for (const each of found) given.add(each);
      if (taker !== undefined && value === null) expected = taker;
    } else {
      const isCommand = operands.length === 0 && !isLiteral && Object.hasOwn(place.commands, word);
      const below = isCommand ? place.commands[word] : undefined;
      if (below === undefined) {
        operands.push(word);
        continue;
      }
      // The help takes the words of every command, but none of its options and operands.
      isHelp ||= word === 'help';
      place = word === 'help' ? { ...below, commands: { ...root.commands, ...below.commands } } : below;
      options = isHelp ? [] : optionsAt(place, global);
    }
  }
  const here = isHelp ? { ...place, operands: null } : place;
  return { place: here, options, given, operands, expected, isLiteral };
}

function optionsAt({ options }: Place, global: readonly TableOption[]): readonly TableOption[] {
  const own = new Set(options.map(({ flags: [flag] }) => flag));
  return [...options, ...global.filter(({ flags: [flag] }) => !own.has(flag))];
}

interface ReadOption {
  /** All that the word names: short ones may be written together. */
  readonly found: readonly TableOption[];
  /** The one among them that takes a value. */
  readonly taker: TableOption | undefined;
  /** Its value in the same word, as in `--output=json` and `-ojson`; null if there is none. */
  readonly value: string | null;
}

function readOption(word: string, options: readonly TableOption[]): ReadOption {
  const named = (flag: string) => options.filter(({ flags }) => flags.includes(flag));
  const takes = (option: TableOption) => option.value !== null;
  if (word.startsWith('--')) {
    const [flag = ''] = word.split('=', 1);
    const found = named(flag);
    return { found, taker: found.find(takes), value: flag === word ? null : word.slice(flag.length + 1) };
  }
  const letters = [...word.slice(1)].map((letter) => named(`-${letter}`));
  const unknown = letters.findIndex((same) => same.length === 0);
  const known = letters.slice(0, unknown < 0 ? letters.length : unknown).flat();
  const end = known.findIndex(takes);
  const value = word.slice(end + 2); // after the dash and its letter
  if (end < 0) return { found: known, taker: undefined, value: null };
  return { found: known.slice(0, end + 1), taker: known[end], value: value === '' ? null : value };
}

/** The value of an option, of which `typed` is there. */
async function offerValue(
  { value, isList }: TableOption,
  typed: string,
  kept: string,
  around: Sources,
): Promise<Completion> {
  const from = isList ? typed.lastIndexOf(',') + 1 : 0;
  const taken = typed.slice(0, from).split(',');
  const offered = await offer(
    value ?? { type: 'free' },
    typed.slice(from),
    kept + typed.slice(0, from),
    around,
  );
  return { ...offered, suggestions: offered.suggestions.filter((each) => !taken.includes(each.value)) };
}

async function offer(value: Offer, typed: string, kept: string, around: Sources): Promise<Completion> {
  switch (value.type) {
    case 'choices':
      return listWords(
        value.choices.map((choice) => suggest(choice, '')),
        kept,
      );
    case 'source':
      return listWords(await listValues(value.source, around), kept);
    case 'at-file':
      return typed.startsWith('@')
        ? { kind: 'files', kept: `${kept}@`, suggestions: [] }
        : listWords([], kept);
    case 'free':
      return listWords([], kept);
    default:
      return { kind: value.type, kept, suggestions: [] };
  }
}

function listWords(suggestions: readonly Suggestion[], kept = ''): Completion {
  return { kind: 'words', kept, suggestions };
}

function suggest(value: string, explains: string): Suggestion {
  return { value, explains };
}
