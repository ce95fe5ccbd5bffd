/** The command tree as JSON, for programs that call vloc or write about it. */

import type * as v from 'valibot';
import { EXIT_CODES } from '../../base/exit-codes.ts';
import { usageFailure } from '../../base/failure.ts';
import { factsOf, type OptionTable } from '../../base/option.ts';
import { flagName } from '../../batch/inputs/field-flags.ts';
import { ENVIRONMENT } from '../../profiles/environment.ts';
import { nearestName } from '../../protocol/nearest.ts';
import { describeSchema, type JsonSchema } from '../../protocol/openapi/json-schemas.ts';
import { type CalledCommand, operandHelp, type Printed } from '../context/command.ts';
import { GLOBAL_OPTIONS } from '../context/global-options.ts';
import { VERSION } from '../context/version.ts';

/** Describes all commands, the options of each, exit codes and environment variables. */
export async function describeCommands(all: readonly CalledCommand[]): Promise<object> {
  return {
    object: 'commands',
    version: VERSION,
    commands: await Promise.all(all.map(describeCommand)),
    global_options: describeOptions(GLOBAL_OPTIONS),
    exit_codes: Object.values(EXIT_CODES).map(({ code, meaning, again }) => ({ code, meaning, again })),
    environment: Object.entries(ENVIRONMENT).map(([name, meaning]) => ({ name, meaning })),
  };
}

async function describeCommand({ words, leaf }: CalledCommand): Promise<object> {
  const { operands, options, fields, examples, notes = [] } = await leaf.load();
  return {
    command: words.join(' '),
    summary: leaf.summary,
    operands:
      operands === undefined
        ? null
        : {
            name: operands.name,
            help: operandHelp(operands),
            count: operands.count,
            choices: operands.choices ?? null,
          },
    options: describeOptions(options),
    fields: fields?.() ?? null,
    examples,
    notes,
  };
}

function describeOptions(table: OptionTable): object[] {
  return Object.entries(table).map(([name, option]) => {
    const { type, short = null, value, help, required = false, choices = null, ...facts } = factsOf(option);
    return {
      name: flagName(name),
      short,
      type,
      value: type === 'choice' ? null : value,
      help,
      required,
      repeatable: type === 'list' || type === 'texts' || type === 'pairs',
      choices,
      default: facts.default ?? null,
    };
  });
}

/** JSON Schemas of what a command prints; null for a form that it does not have. */
export interface PrintedSchemas {
  readonly json: JsonSchema | null;
  /** Schema of each line. */
  readonly ndjson: JsonSchema | null;
}

/** Converts the validators of what a command prints. */
export function describePrinted({ json = [], ndjson = [] }: Printed): PrintedSchemas {
  return { json: oneOf(json), ndjson: oneOf(ndjson) };
}

function oneOf(forms: readonly v.GenericSchema[]): JsonSchema | null {
  const [first, ...others] = forms.map(describeSchema);
  if (first === undefined) return null;
  if (others.length === 0) return first;
  const all = [first, ...others];
  // Said once more for programs that look at the top only, as many agents do.
  const type = all.every((each) => each.type === 'object') ? { type: 'object' } : {};
  return { ...type, anyOf: all };
}

/**
 * The JSON Schemas of what a command prints.
 * @param words the words of the command, such as `jobs`, `wait`
 * @throws Failure (`usage`) for words that name no command
 */
export async function describeOutput(
  all: readonly CalledCommand[],
  words: readonly string[],
): Promise<PrintedSchemas> {
  const name = words.join(' ');
  const called = all.find((command) => command.words.join(' ') === name);
  if (called !== undefined) return describePrinted((await called.leaf.load()).prints);
  const names = all.map((command) => command.words.join(' '));
  const meant = nearestName(name, names);
  const below = names.filter((each) => each.startsWith(`${name} `));
  throw usageFailure(
    'UNKNOWN_COMMAND',
    `there is no command "${name}"`,
    below.length > 0
      ? `Commands: ${below.join(', ')}.`
      : meant === null
        ? '`vloc schema --commands --output id` lists all commands.'
        : `Did you mean ${meant}?`,
  );
}
