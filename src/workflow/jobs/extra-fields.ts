/** Request fields beyond the flags: from --body. */

import type { InputProblem } from '../../batch/plan/input.ts';
import { readBody } from '../../context/api-call.ts';
import type { Io } from '../../context/io.ts';
import { Failure } from '../../errors/failure.ts';

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

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
