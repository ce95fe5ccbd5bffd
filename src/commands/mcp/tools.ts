/** Tools for agents, made from commands: what they take, what they return, and the command line of a call. Pure. */

import {
  factsOf,
  type Option,
  type OptionFacts,
  type OptionTable,
  type RawOptions,
} from '../../base/option.ts';
import { camelCase, flagName } from '../../batch/inputs/field-flags.ts';
import { describeSchema, type JsonSchema } from '../../protocol/openapi/json-schemas.ts';
import { type CalledCommand, type Command, operandHelp, type ToolEffect } from '../context/command.ts';
import { asSentence, parseDuration } from '../context/format.ts';
import { describePrinted } from '../tool/describe-commands.ts';

export interface Tool {
  /** Such as `jobs_wait`. */
  readonly name: string;
  readonly words: readonly string[];
  readonly effect: ToolEffect;
  readonly command: Command;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema;
}

/** The arguments of a call, which the schema of the tool has admitted. */
export type ToolArguments = Readonly<Record<string, unknown>>;

const EFFECTS: Readonly<Record<ToolEffect, string>> = {
  reads: 'Changes nothing, costs nothing.',
  writes: 'Writes files into a writable folder. Costs nothing.',
  cancels: 'Cancelled jobs cannot be continued; they cost nothing. Ask the user first.',
  pays:
    'COSTS CREDITS at a hosted service (nothing with the embedded one). Call it with dry_run: true first and get the ' +
    "user's consent. The same call again continues and pays for nothing twice.",
};

/**
 * Makes the tools of all commands that are offered.
 * @param defaults the defaults of the user for the options of a table; what has one is not required
 */
export async function makeTools(
  commands: readonly CalledCommand[],
  defaults: (table: OptionTable) => Promise<RawOptions>,
): Promise<readonly Tool[]> {
  const tools = commands.map(async ({ words, leaf }): Promise<Tool[]> => {
    if (leaf.tool === undefined) return [];
    const command = await leaf.load();
    return [
      {
        name: words.join('_'),
        words,
        effect: leaf.tool,
        command,
        description: `${asSentence(leaf.summary)} ${EFFECTS[leaf.tool]}`,
        input: inputOf(command, allowDefaults(command, await defaults(command.options)).allowed),
        output: outputOf(describePrinted(command.prints).json),
      },
    ];
  });
  return (await Promise.all(tools)).flat();
}

/** `client_reference` of the option `clientReference`. */
function argumentName(option: string): string {
  return flagName(option).slice(2).replaceAll('-', '_');
}

function offeredOptions({ options }: Command): [string, Option][] {
  return Object.entries(options).filter(([, option]) => isOffered(option));
}

function isOffered(option: Option): boolean {
  const { type, tool } = factsOf(option);
  const mayNameFiles = type === 'text' || type === 'list' || type === 'texts' || type === 'pairs';
  if (tool === 'no' || tool === 'default') return false;
  return !mayNameFiles || tool !== undefined;
}

/**
 * The defaults of the user that apply to calls. Others would never end, pay again, read other inputs or write beside the videos.
 * @param defaults by the name of the option
 * @returns also the flags of those that do not apply
 */
export function allowDefaults(
  { options }: Pick<Command, 'options'>,
  defaults: RawOptions,
): { readonly allowed: RawOptions; readonly ignored: readonly string[] } {
  const isAllowed = ([name]: [string, unknown]) => {
    const option = options[name];
    return option !== undefined && (isOffered(option) || factsOf(option).tool === 'default');
  };
  const entries = Object.entries(defaults);
  return {
    allowed: Object.fromEntries(entries.filter(isAllowed)),
    ignored: entries.filter((entry) => !isAllowed(entry)).map(([name]) => flagName(name)),
  };
}

/** The argument for the operands. */
function operandsName({ operands }: Command): string {
  return `${operands?.name}s`;
}

function inputOf(command: Command, defaults: RawOptions): JsonSchema {
  const { operands } = command;
  const options = offeredOptions(command);
  const properties = Object.fromEntries(
    options.map(([name, option]) => [argumentName(name), schemaOf(option)]),
  );
  const required = options
    .filter(([name, option]) => factsOf(option).required === true && defaults[name] === undefined)
    .map(([name]) => argumentName(name));
  const isNeeded = operands !== undefined && (operands.count !== 'any' || operands.paths !== undefined);
  return {
    type: 'object',
    properties: {
      ...(operands === undefined
        ? {}
        : {
            [operandsName(command)]: {
              type: 'array',
              items: { type: 'string', minLength: 1 },
              ...(isNeeded ? { minItems: 1 } : {}),
              description: operandHelp(operands).replace(', or - for stdin', ''),
            },
          }),
      ...properties,
    },
    required: [...(isNeeded ? [operandsName(command)] : []), ...required],
    additionalProperties: false,
  };
}

function schemaOf(option: Option): JsonSchema {
  const { type } = factsOf(option);
  // The facts of an option are for the help; agents pay for each character.
  const { default: _empty, option: _facts, ...schema } = describeSchema(option);
  return {
    ...(type === 'duration' ? DURATION : schema),
    description: describeArgument(factsOf(option)),
  };
}

const DURATION = { type: 'string', pattern: String.raw`^\d+(\.\d+)?(ms|s|m|min|h|d)?$` };

/** The pattern of the argument shows how times are written. */
const EXAMPLES_OF_TIMES = ', such as 90s, 30m or 2h';

function describeArgument({ argumentHelp, help }: OptionFacts): string {
  return nameArguments((argumentHelp ?? help).replace('; repeatable', '').replace(EXAMPLES_OF_TIMES, ''));
}

/** Names of flags in a text as arguments: \`max_credits\` for `--max-credits`. Commands in backticks are for the user. @param isArgument by the flag; missing for all */
export function nameArguments(text: string, isArgument: (flag: string) => boolean = () => true): string {
  const lines = text
    .split('\n')
    .map((line) => (/^\s*(npx )?vloc /.test(line) ? line : nameInLine(line, isArgument)));
  return lines.join('\n');
}

function nameInLine(line: string, isArgument: (flag: string) => boolean): string {
  return line.replace(/`[^`]*`|(?<![\w-])--([a-z][a-z\d-]*)/g, (whole: string, name: string | undefined) =>
    name === undefined || !isArgument(whole) ? whole : `\`${name.replaceAll('-', '_')}\``,
  );
}

/** Whether a flag is an argument of the tool. */
export function isArgumentOf({ command }: Pick<Tool, 'command'>): (flag: string) => boolean {
  const flags = new Set(offeredOptions(command).map(([name]) => flagName(name)));
  return (flag) => flags.has(flag);
}

/** The result of every tool: the JSON of the command, and how it ended. The instructions of the server describe the common parts, such as `text` and `notes`. */
function outputOf(json: JsonSchema | null): JsonSchema {
  return {
    type: 'object',
    properties: {
      exit_code: { type: 'integer' },
      output: nullable(outline(json ?? {}, OUTLINE_DEPTH)),
      error: { type: ['object', 'null'] },
      session: {},
    },
    required: ['exit_code', 'output', 'error', 'session'],
  };
}

/** The rows of a list and their fields. */
const OUTLINE_DEPTH = 2;

/** A schema with the names of its fields only: agents pay for each character of the list of tools. @param depth of fields that are objects */
function outline(schema: JsonSchema, depth: number): JsonSchema {
  const { type, anyOf, properties, items } = schema;
  if (Array.isArray(anyOf)) {
    const isNullable = anyOf.some((each) => each.type === 'null');
    // A field that can be null needs no more than its name here.
    return isNullable ? {} : { anyOf: anyOf.map((each) => outline(each, depth)) };
  }
  if (depth > 0 && isSchema(properties)) {
    const fields = Object.entries(properties).map(([name, field]) => [
      name,
      outline(field as JsonSchema, depth - 1),
    ]);
    return { type: 'object', properties: Object.fromEntries(fields) };
  }
  // A list is as deep as its rows.
  if (depth > 0 && isSchema(items)) return { type: 'array', items: outline(items, depth) };
  return type === 'object' || type === 'array' ? { type } : {};
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema with null, which a refused call returns. */
function nullable(schema: JsonSchema): JsonSchema {
  const { type, anyOf } = schema;
  if (Array.isArray(anyOf)) return { anyOf: anyOf.map((each, at) => (at === 0 ? nullable(each) : each)) };
  return typeof type === 'string' ? { ...schema, type: [type, 'null'] } : schema;
}

/** A call as the command gets it. */
export interface CommandCall {
  readonly operands: readonly string[];
  readonly options: RawOptions;
}

/** Reads the arguments of a call. */
export function readArguments({ command }: Pick<Tool, 'command'>, given: ToolArguments): CommandCall {
  const operands = given[operandsName(command)];
  const options = offeredOptions(command).flatMap(([name, option]) => {
    const value = given[argumentName(name)];
    if (value === undefined) return [];
    return [[name, factsOf(option).type === 'duration' ? parseDuration(String(value)) : value] as const];
  });
  return {
    operands: Array.isArray(operands) ? operands.map(String) : [],
    options: Object.fromEntries(options),
  };
}

/** The same call as words of a command line, for records and for messages that repeat it. */
export function writeWords({ words, command }: Tool, { operands, options }: CommandCall): readonly string[] {
  const flags = Object.entries(options).flatMap(([name, value]): string[] => {
    const flag = flagName(camelCase(name));
    if (value === false || value === undefined) return [];
    if (value === true) return [flag];
    const type = command.options[name] === undefined ? null : factsOf(command.options[name]).type;
    if (type === 'duration') return [flag, `${value}ms`];
    if (type === 'list' && Array.isArray(value)) return [flag, value.join(',')];
    if (Array.isArray(value)) return value.flatMap((each) => [flag, String(each)]);
    if (typeof value === 'object' && value !== null) {
      return Object.entries(value).flatMap(([part, text]) => [flag, `${part}=${text}`]);
    }
    return [flag, String(value)];
  });
  return [...words, ...operands, ...flags];
}
