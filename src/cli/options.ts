/** Converts option tables to parser options, and reads their values from the result of the parser. */
import { CommanderError, InvalidArgumentError, Option, type Command as Parser } from 'commander';
import { EXIT_CODES } from '../base/exit-codes.ts';
import { flagName } from '../batch/plan/field-flags.ts';
import { parseDuration } from '../commands/context/format.ts';
import {
  describeRange,
  HELP_GROUPS,
  isInRange,
  type OptionSpec,
  type OptionTable,
  type RawOptions,
} from '../commands/context/option-table.ts';

/** Adds every option of the table, sorted by group: the help shows groups in the order in which they first appear. */
export function addOptions(parser: Parser, table: OptionTable): void {
  const place = ({ group }: OptionSpec) => (group === undefined ? -1 : HELP_GROUPS.indexOf(group));
  const entries = Object.entries(table).toSorted(([, one], [, other]) => place(one) - place(other));
  for (const [name, spec] of entries) {
    const help = spec.required === true ? `${spec.help} (required)` : spec.help;
    const option = new Option(writtenFlags(name, spec), help);
    if (spec.type === 'choice') {
      option.choices(spec.choices);
      if (spec.default !== undefined) option.default(spec.default);
    }
    if (spec.type !== 'flag') {
      option.argParser((text: string, previous: unknown) => readOption(name, spec, text, previous));
    }
    if (spec.group !== undefined) option.helpGroup(spec.group);
    parser.addOption(option);
  }
}

/** How the help shows an option: `-o, --output <form>`. */
export function writtenFlags(name: string, spec: OptionSpec): string {
  const flag = flagName(name);
  const value = spec.type === 'flag' ? '' : ` <${spec.type === 'choice' ? 'choice' : spec.value}>`;
  return `${spec.short === undefined ? '' : `${spec.short}, `}${flag}${value}`;
}

/** The parser's own message for such a value names the option twice and does not say what is expected. */
function readOption(name: string, spec: OptionSpec, text: string, previous: unknown): unknown {
  try {
    return readValue(spec, text, previous);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    const message = `invalid ${flagName(name)} "${text}": ${error.message}`;
    throw new CommanderError(EXIT_CODES.usage.code, 'vloc.invalidValue', message);
  }
}

/** Parses the value of an option. @throws InvalidArgumentError, which says what is expected */
export function readValue(spec: OptionSpec, text: string, previous: unknown): unknown {
  switch (spec.type) {
    case 'list':
      return [...(Array.isArray(previous) ? previous : []), ...splitList(text)];
    case 'texts':
      return [...(Array.isArray(previous) ? previous : []), text];
    case 'pairs':
      return { ...(typeof previous === 'object' ? previous : {}), ...readPair(text) };
    case 'duration': {
      const ms = parseDuration(text);
      if (ms === null) throw new InvalidArgumentError('expected a time such as 90s, 30m or 2h');
      return ms;
    }
    case 'number': {
      const value = Number(text);
      if (text.trim() === '' || !isInRange(value, spec))
        throw new InvalidArgumentError(`expected ${describeRange(spec)}`);
      return value;
    }
    case 'choice':
      if (!spec.choices.includes(text))
        throw new InvalidArgumentError(`expected one of ${spec.choices.join(', ')}`);
      return text;
    default:
      return text;
  }
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function readPair(text: string): Record<string, string> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('expected name=value');
  return { [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** Selects the values of one table from those that the parser found; `decodeOptions` adds the types. */
export function readOptions(table: OptionTable, found: RawOptions): RawOptions {
  return Object.fromEntries(
    Object.entries(table).map(([name, spec]) => [name, foundValue(name, spec, found)]),
  );
}

/** The parser stores `--no-wait` as `wait: false`. */
function foundValue(name: string, spec: OptionSpec, found: RawOptions): unknown {
  const negated = spec.type === 'flag' ? /^no([A-Z])(.*)$/.exec(name) : null;
  if (negated === null) return found[name];
  return found[`${negated[1]?.toLowerCase()}${negated[2]}`] === false;
}
