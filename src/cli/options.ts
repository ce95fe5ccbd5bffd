/** Converts option tables to parser options, and reads their values from the result of the parser. */

import { CommanderError, type Command as Parser, Option as ParserOption } from 'commander';
import * as v from 'valibot';
import { EXIT_CODES } from '../base/exit-codes.ts';
import {
  factsOf,
  HELP_GROUPS,
  type Option,
  type OptionFacts,
  type OptionTable,
  type RawOptions,
} from '../base/option.ts';
import { flagName } from '../batch/inputs/field-flags.ts';
import { parseDuration } from '../commands/context/format.ts';

/**
 * Adds every option of the table, sorted by group: the help shows groups in the order in which they first appear.
 * @param isShort whether the help shows only options of daily use
 */
export function addOptions(parser: Parser, table: OptionTable, isShort: boolean): void {
  const place = ({ group }: OptionFacts) => (group === undefined ? -1 : HELP_GROUPS.indexOf(group));
  const rows = Object.entries(table).map(([name, option]) => ({ name, option, facts: factsOf(option) }));
  for (const { name, option, facts } of rows.toSorted(
    (one, other) => place(one.facts) - place(other.facts),
  )) {
    const help = facts.required === true ? `${facts.help} (required)` : facts.help;
    const added = new ParserOption(writtenFlags(name, facts), help);
    if (facts.choices !== undefined) added.choices(facts.choices);
    if (facts.default !== undefined) added.default(facts.default);
    if (facts.preset !== undefined) added.preset(facts.preset);
    if (facts.type !== 'flag') {
      added.argParser((text: string, previous: unknown) => readArgument(name, option, text, previous));
    }
    if (facts.group !== undefined) added.helpGroup(facts.group);
    parser.addOption(added.hideHelp(isShort && facts.daily !== true));
  }
}

/** How the help shows an option: `-o, --output <form>`, and `--sample [time]` for an optional value. */
export function writtenFlags(name: string, { short, value, preset }: OptionFacts): string {
  const flags = short === undefined ? flagName(name) : `${short}, ${flagName(name)}`;
  if (value === null) return flags;
  return preset === undefined ? `${flags} <${value}>` : `${flags} [${value}]`;
}

/** The parser's own message for an invalid value names the option twice and does not say what is expected. */
function readArgument(name: string, option: Option, text: string, previous: unknown): unknown {
  const { type } = factsOf(option);
  // Repeated options add up. The default of a choice is not a previous value.
  const before = type === 'list' || type === 'texts' || type === 'pairs' ? previous : undefined;
  const result = readValue(option, text, before);
  if ('value' in result) return result.value;
  const message = `invalid ${flagName(name)} "${text}": ${result.fault}`;
  throw new CommanderError(EXIT_CODES.usage.code, 'vloc.invalidValue', message);
}

type ReadValue = { readonly value: unknown } | { readonly fault: string };

/**
 * Reads the value of an option.
 * @param before the value of the same option before it, if it can be repeated
 * @returns either the value, or what its schema expects
 */
export function readValue(option: Option, text: string, before?: unknown): ReadValue {
  const result = v.safeParse(option, parseText(factsOf(option), text, before));
  return result.success ? { value: result.output } : { fault: result.issues[0].message };
}

/** The text in the type that the schema checks; a text that cannot be converted stays as it is. */
function parseText({ type }: OptionFacts, text: string, before: unknown): unknown {
  const list = Array.isArray(before) ? before : [];
  switch (type) {
    case 'list':
      return [...list, ...splitList(text)];
    case 'texts':
      return [...list, text];
    case 'pairs': {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      return name === undefined ? text : { ...(typeof before === 'object' ? before : {}), [name]: value };
    }
    case 'duration':
      return parseDuration(text) ?? text;
    case 'number':
      return text.trim() === '' ? text : Number(text);
    default:
      return text;
  }
}

/** An empty part counts only if there is no other: `es,` is `es`, and an empty list is refused as an empty value. */
function splitList(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  const given = parts.filter((part) => part !== '');
  return given.length === 0 ? [''] : given;
}

/** Selects the values of one table from those that the parser found; `decodeOptions` adds the types. */
export function readOptions(table: OptionTable, found: RawOptions): RawOptions {
  return Object.fromEntries(
    Object.entries(table).map(([name, option]) => [name, foundValue(name, option, found)]),
  );
}

/** The parser stores `--no-wait` as `wait: false`. */
function foundValue(name: string, option: Option, found: RawOptions): unknown {
  const negated = factsOf(option).type === 'flag' ? /^no([A-Z])(.*)$/.exec(name) : null;
  if (negated === null) return found[name];
  return found[`${negated[1]?.toLowerCase()}${negated[2]}`] === false;
}
