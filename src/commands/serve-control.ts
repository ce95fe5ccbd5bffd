/** The commands of `vloc serve control`, made from the table of control operations. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { camelCase, flagName } from '../batch/plan/field-flags.ts';
import { callControl, controlOff } from '../client/control.ts';
import { type Command, defineCommand, type OptionValues, usageFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { parseDuration } from '../context/format.ts';
import type { OptionSpec, OptionTable } from '../context/option-table.ts';
import { plainCell, printList, printRecord, type RecordForm } from '../context/records.ts';
import { readBody } from '../context/request-body.ts';
import { errorCode } from '../errors/system-error.ts';
import { stateFolder } from '../profiles/environment.ts';
import type { ControlField } from '../service/control/field-types.ts';
import {
  CONTROL_FILE,
  CONTROL_LIST,
  CONTROL_OPERATIONS,
  CONTROL_RESOURCES,
  type ControlAddress,
  type ControlName,
  type ControlOperation,
  type ControlResource,
  parameterOf,
} from '../service/control/operations.ts';
import { STATE_DIR } from './serve-keys.ts';

const WORKSPACE: OptionSpec = {
  type: 'text',
  value: 'id',
  help: 'temporary workspace to control (default: the service itself)',
};
const DATA: OptionSpec = {
  type: 'text',
  value: 'json',
  short: '-d',
  help: 'fields as a JSON object, @file, or - for stdin; options override it',
};

/** Creates the command of an operation. */
function createCommand(name: ControlName): Command {
  const operation: ControlOperation = CONTROL_OPERATIONS[name];
  const resource: ControlResource = CONTROL_RESOURCES[operation.answer];
  const words = name.replace('.', ' ');
  const { args, explains } = operation.example;
  return defineCommand<OptionTable>({
    ...operandsOf(operation),
    options: {
      ...Object.fromEntries(flagFields(operation).map(([field, spec]) => [camelCase(field), optionOf(spec)])),
      ...(hasBody(operation) ? { data: DATA } : {}),
      ...(operation.rootOnly === true ? {} : { workspace: WORKSPACE }),
      stateDir: STATE_DIR,
    },
    fields: () => [...resource.columns, ...(resource.more ?? [])],
    examples: [{ command: ['vloc serve control', words, args].join(' ').trim(), explains }],
    notes: ['Controls the service that was started with `vloc serve --control` on the same state folder.'],
    schemas: async () => (await import('../outputs/embedded-service.ts')).describeControl(name),
    async run(context, operands, options) {
      const address = await readAddress(context, textOf(options.stateDir));
      const answer = await callControl(address, {
        operation,
        id: parameterOf(operation) === null ? '' : (operands[0] ?? ''),
        fields: await readFields(context, operation, operands, options),
        workspace: textOf(options.workspace) ?? null,
        signal: context.signal,
      });
      await show(context, operation, answer);
      return 0;
    },
  });
}

/** Fields that are options; the others are operands. */
const flagFields = ({ fields }: ControlOperation) =>
  Object.entries(fields).filter(([, { operand }]) => operand !== true);

const operandField = ({ fields }: ControlOperation) =>
  Object.entries(fields).find(([, { operand }]) => operand === true);

const hasBody = ({ method, fields }: ControlOperation) =>
  method !== 'GET' && Object.values(fields).some(({ operand }) => operand !== true);

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

function operandsOf(operation: ControlOperation): Pick<Command, 'operands'> {
  const field = operandField(operation);
  if (field !== undefined) return { operands: { name: field[0], count: 'one', help: field[1].help } };
  const parameter = parameterOf(operation);
  if (parameter === null) return {};
  const { plural } = CONTROL_RESOURCES[operation.answer];
  return {
    operands: { name: parameter, count: 'one', help: `as shown by \`${plural} list\`` },
  };
}

function optionOf({ type, help, required, choices = [] }: ControlField): OptionSpec {
  const common = { help, ...(required === true ? { required } : {}) };
  switch (type) {
    case 'number':
    case 'count':
    case 'whole':
      return { ...common, type: 'number', value: 'n' };
    case 'choice':
      return { ...common, type: 'choice', choices };
    case 'list':
      return { ...common, type: 'list', value: choices.length === 0 ? 'text' : 'kind' };
    case 'seconds':
    case 'times':
    case 'text':
    case 'instant':
      return {
        ...common,
        type: 'text',
        value: type === 'instant' ? 'time' : type === 'times' ? 'n' : 'text',
      };
    case 'rate':
      return { ...common, type: 'text', value: 'requests/seconds' };
    case 'object':
    case 'objects':
      return { ...common, type: 'text', value: 'json' };
  }
}

/** The fields of the request: those of --data, then options, then the operand. */
async function readFields(
  context: Context,
  operation: ControlOperation,
  operands: readonly string[],
  options: OptionValues<OptionTable>,
): Promise<Record<string, unknown>> {
  const data = textOf(options.data);
  const fields = data === undefined ? {} : await readObject(data, context);
  for (const [name, field] of flagFields(operation)) {
    const value = options[camelCase(name)];
    const isGiven = value !== undefined && !(Array.isArray(value) && value.length === 0);
    if (isGiven) fields[name] = await readValue(flagName(camelCase(name)), field, value, context);
  }
  const operand = operandField(operation);
  if (operand !== undefined) {
    const [name, field] = operand;
    fields[name] = await readValue(`<${name}>`, field, operands[0] ?? '', context);
  }
  return fields;
}

/** Reads what people write in another form than JSON has it; everything else is checked by the service. */
async function readValue(
  written: string,
  { type }: ControlField,
  value: unknown,
  context: Context,
): Promise<unknown> {
  if (typeof value !== 'string') return value;
  switch (type) {
    case 'number':
    case 'count':
    case 'whole':
      return Number(value);
    case 'times':
      return value === 'always' ? value : Number(value);
    case 'seconds': {
      const ms = parseDuration(value);
      if (ms === null) throw usageFailure(`${written} is not a time`, 'Write a time such as 90s, 30m or 2h.');
      return ms / 1000;
    }
    case 'rate': {
      const [, requests, seconds] = /^(\d+)\/(\d+)$/.exec(value) ?? [];
      if (requests === undefined) {
        throw usageFailure(`${written} is not a rate`, 'Write requests and seconds, such as 10/60.');
      }
      return { requests: Number(requests), window_seconds: Number(seconds) };
    }
    case 'object':
    case 'objects':
      return JSON.parse((await readBody(value, context.io)).toString('utf8'));
    default:
      return value;
  }
}

async function readObject(written: string, { io }: Context): Promise<Record<string, unknown>> {
  const value: unknown = JSON.parse((await readBody(written, io)).toString('utf8'));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw usageFailure('--data is not a JSON object', 'Write the fields as an object: {"name": "value"}.');
}

/** The address and the token, from the state folder. @throws Failure CONTROL_OFF */
async function readAddress(context: Context, stateDir: string | undefined): Promise<ControlAddress> {
  const { env, platform, cwd } = context.io;
  const folder = resolve(cwd, stateDir ?? stateFolder(env, platform));
  try {
    const { url, token } = JSON.parse(await readFile(join(folder, CONTROL_FILE), 'utf8'));
    if (typeof url === 'string' && typeof token === 'string') return { url, token };
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
  }
  throw controlOff(`no service with --control runs on ${folder}`);
}

function cellOf(value: unknown): string {
  return (
    plainCell(
      Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(', ') : value,
    ) || '-'
  );
}

type Row = Readonly<Record<string, unknown>>;

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null;

async function show(context: Context, operation: ControlOperation, answer: unknown): Promise<void> {
  const { plural, id, columns }: ControlResource = CONTROL_RESOURCES[operation.answer];
  const form: RecordForm<Row> = {
    plural,
    idOf: (row) => plainCell(row[id]),
    columns: columns.map((field) => ({
      head: field.replaceAll('_', ' ').toUpperCase(),
      field,
      // Exact times: the clock of the service is not that of the machine.
      text: (row) => cellOf(row[field]),
    })),
  };
  if (!isRow(answer)) throw controlOff('its answer is not that of a control interface');
  if (operation.list !== true) return printRecord(context, form, answer);
  const { data, has_more: more } = answer;
  const rows = Array.isArray(data) ? data.filter(isRow) : [];
  if (more === true) context.terminal.note(`Only the newest ${rows.length} are shown.`);
  await printList(context, form, { data: rows, has_more: false, next_cursor: null });
}

const COMMANDS = new Map(CONTROL_LIST.map(({ name }) => [name, createCommand(name)]));

/** Returns the command of an operation. */
export function controlCommand(name: ControlName): Command {
  const command = COMMANDS.get(name);
  if (command === undefined) throw new Error(`there is no control operation "${name}"`);
  return command;
}
