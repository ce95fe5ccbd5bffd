/** Request fields beyond the flags: from --body and from --set. */
import { Failure } from '../../client/failure.ts';
import { readBody } from '../api-call.ts';
import type { Io } from '../io.ts';
import type { InputProblem } from './job-input.ts';

type Fields = Record<string, unknown>;

/**
 * The object of `--body @file` or `--body -`; empty without the option.
 * @param operands those that stand for inputs: stdin can be read once
 */
export async function readBodyFields(
  written: string | undefined,
  operands: readonly string[],
  io: Io,
  problems: InputProblem[],
): Promise<Fields> {
  if (written === undefined) return {};
  const report = (detail: string) => problems.push({ pointer: '--body', detail });
  if (written === '-' && operands.includes('-')) {
    report('- is the input already; give the fields in a file, with @file');
    return {};
  }
  try {
    const fields: unknown = JSON.parse((await readBody(written, io)).toString('utf8'));
    if (isObject(fields)) return fields;
    report('must be a JSON object of request fields');
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    report(error.message);
  }
  return {};
}

/** Names that would change what every object inherits. */
const FORBIDDEN = ['__proto__', 'constructor', 'prototype'];

/**
 * The fields with what --set names put into them: `tone=formal`, `count=3`, `voice.speed=1.2`. A value that is JSON is
 * taken as JSON, everything else as text. What it is worth is the service's to judge.
 */
export function setFields(
  fields: Readonly<Fields>,
  pairs: Readonly<Record<string, string>>,
  problems: InputProblem[],
): Fields {
  // A copy: one request for each language is made of the same fields.
  const result: Fields = structuredClone(fields);
  for (const [name, text] of Object.entries(pairs)) {
    const path = name.split('.');
    if (path.some((part) => part === '' || FORBIDDEN.includes(part))) {
      problems.push({ pointer: `--set ${name}`, detail: 'is no name of a field' });
      continue;
    }
    if (!put(result, path, readValue(text))) {
      problems.push({ pointer: `--set ${name}`, detail: 'leads into a field that holds no object' });
    }
  }
  return result;
}

function put(object: Fields, [name = '', ...rest]: readonly string[], value: unknown): boolean {
  if (rest.length === 0) {
    object[name] = value;
    return true;
  }
  object[name] ??= {};
  const inner = object[name];
  return isObject(inner) && put(inner, rest, value);
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
