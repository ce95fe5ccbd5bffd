/** The operands and the body of `vloc api`. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Call } from '../client/index.ts';
import { formatBytes } from '../errors/amounts.ts';
import { Failure } from '../errors/failure.ts';
import { describeUnreadable } from '../errors/system-error.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { Io } from './context.ts';

const METHODS = ['GET', 'POST', 'DELETE', 'PUT', 'PATCH'] as const;

/**
 * Reads `[METHOD] PATH`; without a method it is GET, and POST where there is a body, as with `gh api`.
 * @throws Failure of category usage
 */
export function readCall(operands: readonly string[], hasBody: boolean): Pick<Call, 'method' | 'path'> {
  const [first = '', second, ...rest] = operands;
  if (rest.length > 0)
    throw usage('there is one method and one path', 'Quote the path if the shell splits it.');
  if (second === undefined) return { method: hasBody ? 'POST' : 'GET', path: first };
  const method = METHODS.find((each) => each === first.toUpperCase());
  if (method === undefined) {
    throw usage(`unknown HTTP method "${first}"`, `Methods: ${METHODS.join(', ')}; then the path.`);
  }
  return { method, path: second };
}

/**
 * The bytes of a body, from the operand itself, `@file` or `-`; they are sent as they are.
 * @throws Failure of category usage for what is no JSON, cannot be read, or is over the limit of the service
 */
export async function readBody(written: string, io: Pick<Io, 'stdin' | 'cwd'>): Promise<Buffer> {
  const bytes = await readWritten(written, io);
  if (bytes.length > LIMITS.jsonBytes) {
    throw usage(
      `the body has ${formatBytes(bytes.length)}; the service takes ${formatBytes(LIMITS.jsonBytes)}`,
      'Upload files, and name the upload.',
    );
  }
  try {
    JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw usage(
      `the request body is not valid JSON: ${why}`,
      'Write JSON, @file for a file, or - for stdin.',
    );
  }
  return bytes;
}

async function readWritten(written: string, io: Pick<Io, 'stdin' | 'cwd'>): Promise<Buffer> {
  if (written === '-') return buffer(io.stdin);
  if (!written.startsWith('@')) return Buffer.from(written);
  const path = resolve(io.cwd, written.slice(1));
  try {
    return await readFile(path);
  } catch (error) {
    const why = describeUnreadable(error) ?? String(error);
    throw usage(`cannot read ${path}: ${why}`, 'Write JSON, @file for a file, or - for stdin.');
  }
}

function usage(message: string, advice: string): Failure {
  return new Failure({ category: 'usage', code: 'BODY_INVALID', message, advice });
}
