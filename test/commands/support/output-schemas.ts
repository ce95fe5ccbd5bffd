/** Holds what a command printed against the JSON Schemas that it states, with a validator of another author. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { parseArguments } from '../../../src/cli/program.ts';
import type { Command } from '../../../src/commands/context/command.ts';
import { describePrinted } from '../../../src/commands/tool/describe-commands.ts';
import type { Ended } from '../../support/run-main.ts';
import { createTestIo } from '../../support/test-io.ts';

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** The same schema without room for members that it does not name: what is printed must be described. */
function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close);
  if (!isObject(schema)) return schema;
  const closed = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, close(part)]));
  const isOpen = schema.type !== 'object' || schema.properties === undefined;
  return isOpen ? closed : { additionalProperties: false, ...closed };
}

/** `schema.test.ts` looks at the schemas themselves. What is made of them runs a few times, so it is not made fast. */
const ajv = new Ajv2020({
  ...{ strict: true, allowUnionTypes: true, strictTypes: false },
  ...{ validateSchema: false, code: { optimize: false } },
});
const validators = new Map<object | undefined, ValidateFunction | null>();

/** Compiles the schema of one form when it is first printed: most commands are only run in one. */
function validatorOf({ prints }: Command, form: 'json' | 'ndjson'): ValidateFunction | null {
  const known = validators.get(prints[form]);
  if (known !== undefined) return known;
  const schema = describePrinted({ [form]: prints[form] ?? [] })[form];
  const made = schema === null ? null : ajv.compile(close(schema) as object);
  validators.set(prints[form], made);
  return made;
}

/**
 * Checks the output of one run.
 * @returns how many documents or lines were checked; 0 for a run that printed none
 */
export async function expectDescribed(words: readonly string[], { stdout }: Ended): Promise<number> {
  if (stdout.trim() === '') return 0;
  const invocation = await parseArguments(words, createTestIo().io).catch(() => null);
  if (invocation?.type !== 'command') return 0;
  const { command, global, options } = invocation;
  const { output, jq, fields } = global;
  const isWhole = jq === undefined && fields.length === 0;
  // Other forms of a report are not JSON.
  const isOther = typeof options.format === 'string' && options.format !== 'json';
  if (!isWhole || isOther || (output !== 'json' && output !== 'ndjson')) return 0;
  const validate = validatorOf(command, output);
  const texts = output === 'json' ? [stdout] : stdout.trimEnd().split('\n');
  for (const text of texts) {
    const what = `vloc ${words.join(' ')} printed ${text.slice(0, 300)}`;
    expect(validate, `${what}, and states no schema for it`).not.toBeNull();
    const isValid = validate?.(JSON.parse(text));
    expect.soft(isValid, `${what}\n${ajv.errorsText(validate?.errors)}`).toBe(true);
  }
  return texts.length;
}
