/** JSON request bodies from an argument, a file or stdin. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { formatBytes } from '../../base/amounts.ts';
import { type Failure, usageFailure } from '../../base/failure.ts';
import { withoutMark } from '../../base/json.ts';
import { describeUnreadable } from '../../base/system-error.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Io } from './context.ts';

/**
 * Reads a request body from the text itself, `@file` or `-`. Returns the bytes, without a byte order mark.
 * @throws Failure of category usage for invalid JSON, an unreadable file, or a body above the limit of the service
 */
export async function readBody(written: string, io: Pick<Io, 'stdin' | 'cwd'>): Promise<Buffer> {
  const bytes = withoutMark(await readWritten(written, io));
  if (bytes.length > LIMITS.jsonBytes) {
    throw requestBodyFailure(
      `the body has ${formatBytes(bytes.length)}; the limit is ${formatBytes(LIMITS.jsonBytes)}`,
      'Upload files, and name the upload.',
    );
  }
  try {
    JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw requestBodyFailure(
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
    throw requestBodyFailure(`cannot read ${path}: ${why}`, 'Write JSON, @file for a file, or - for stdin.');
  }
}

function requestBodyFailure(message: string, advice: string): Failure {
  return usageFailure('BODY_INVALID', message, advice);
}
