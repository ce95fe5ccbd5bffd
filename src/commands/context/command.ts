/** Definition of a command: data for help, parser, completions and documents, and the function that runs it. */

import * as v from 'valibot';
import { type Failure, usageFailure } from '../../base/failure.ts';
import {
  NOT_EMPTY,
  type Option,
  type OptionTable,
  type OptionValues,
  type RawOptions,
} from '../../base/option.ts';
import { flagName } from '../../batch/inputs/field-flags.ts';
import type { Context } from './context.ts';

/** The operands of a command; one name for all of them. */
export type Operands = {
  readonly name: string;
  /** `any` includes none. */
  readonly count: 'one' | 'many' | 'any';
  /** For `vloc mcp`: what paths among them lead to, if there can be any. */
  readonly paths?: 'video' | 'subtitle' | 'results';
  /** All valid values, for completion; the command itself rejects others. */
  readonly choices?: readonly string[];
} & (
  | { readonly help: string }
  /** The help of each, by how the help writes it, where they differ. */
  | { readonly parts: Readonly<Record<string, string>> }
);

/** All operands as one argument of the parser. */
export function writeOperands({ name, count }: Operands): string {
  return { one: `<${name}>`, many: `<${name}...>`, any: `[${name}...]` }[count];
}

/** The help of each operand, by how usage lines write it. */
export function operandParts(operands: Operands): Readonly<Record<string, string>> {
  return 'parts' in operands ? operands.parts : { [writeOperands(operands)]: operands.help };
}

/** Help text for all operands together. */
export function operandHelp(operands: Operands): string {
  return Object.values(operandParts(operands)).join('; ');
}

export interface Example {
  readonly command: string;
  readonly explains: string;
}

/** Validators of what a command prints without --fields and --jq; a form that is missing is not printed. */
export interface Printed {
  /** One for each form of the document. */
  readonly json?: readonly v.GenericSchema[];
  /** One for each kind of line. */
  readonly ndjson?: readonly v.GenericSchema[];
}

interface CommandDefinition<T extends OptionTable> {
  readonly operands?: Operands;
  readonly options: T;
  readonly examples: readonly Example[];
  /** Paragraphs after the options in the help. */
  readonly notes?: readonly string[];
  /** The field names that --fields accepts; missing for commands that print no records. */
  readonly fields?: () => readonly string[];
  /** Its output for programs. */
  readonly prints: Printed;
  /** Runs it; the number is the exit code. Throws Failure for what went wrong. */
  readonly run: (context: Context, operands: readonly string[], options: OptionValues<T>) => Promise<number>;
}

/** A command as the parser, the help and the documents see it. */
export interface Command extends Omit<CommandDefinition<OptionTable>, 'run'> {
  /** Decodes the options by the table of the command, then runs it. @throws Failure (`usage`) for an empty operand, and as `decodeOptions` and the command do */
  readonly run: (context: Context, operands: readonly string[], options: RawOptions) => Promise<number>;
}

/** Effect of a command when an agent calls it through `vloc mcp`; commands without it are not offered. */
export type ToolEffect = 'reads' | 'writes' | 'pays' | 'cancels';

/** A command of the tree with the words that call it. */
export interface CalledCommand {
  readonly words: readonly string[];
  readonly leaf: {
    readonly summary: string;
    readonly load: () => Promise<Command>;
    readonly tool?: ToolEffect;
  };
}

/** Creates a command; `run` of the definition gets the exact types of its option table. */
export function defineCommand<const T extends OptionTable>(definition: CommandDefinition<T>): Command {
  return {
    ...definition,
    run: async (context, operands, raw) => {
      if (operands.includes('')) throw emptyOperandFailure();
      return definition.run(context, operands, decodeOptions(definition.options, raw));
    },
  };
}

function emptyOperandFailure(): Failure {
  return invalidCallFailure(
    `invalid argument "": ${NOT_EMPTY}`,
    'Set the variable that it comes from, or leave it out.',
  );
}

/**
 * The options of a table, each checked by its schema; a missing one has the empty value of its type.
 * @throws Failure (`usage`) for a value that its schema does not accept: another version may have recorded it
 */
export function decodeOptions<T extends OptionTable>(table: T, raw: RawOptions): OptionValues<T> {
  const entries = Object.entries(table).map(([name, option]) => [
    name,
    decodeOption(name, option, raw[name]),
  ]);
  return Object.fromEntries(entries) as OptionValues<T>; // each value was checked by its schema
}

function decodeOption(name: string, option: Option, value: unknown): unknown {
  // Records have null for what was not given.
  const result = v.safeParse(option, value ?? undefined);
  if (result.success) return result.output;
  throw invalidCallFailure(
    `${flagName(name)} cannot be ${JSON.stringify(value)}`,
    'Run the command again with values that its --help lists.',
  );
}

/** The failure for an invalid call of a command: exit code 2, and nothing was sent. */
export function invalidCallFailure(message: string, advice: string): Failure {
  return usageFailure('USAGE', message, advice);
}
