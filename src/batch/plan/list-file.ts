/** Lists of inputs: --files-from and --files-from0. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describeUnreadable } from '../../errors/system-error.ts';
import type { PlanIo } from './plan-io.ts';

/**
 * The entries of a list, `-` for stdin: one a line, or with a NUL behind each, as `find -print0` writes them.
 * @returns a sentence when it cannot be read
 */
export async function readList(
  written: string,
  separator: 'line' | 'nul',
  io: Pick<PlanIo, 'cwd' | 'stdin'>,
): Promise<readonly string[] | string> {
  const bytes = await readOrSay(written, io);
  if (typeof bytes === 'string') return bytes;
  const text = decode(bytes);
  if (text === null) return 'the list is not UTF-8; write the names as UTF-8';
  if (separator === 'line' && text.includes('\0'))
    return 'the list has NULs in it; read it with --files-from0';
  const entries = separator === 'line' ? text.split(/\r?\n/) : text.split('\0');
  return entries.filter((entry) => entry !== '');
}

/** The bytes of a file or of stdin, or why they cannot be read. */
export async function readOrSay(
  written: string,
  { cwd, stdin }: Pick<PlanIo, 'cwd' | 'stdin'>,
): Promise<Buffer | string> {
  if (written === '-') return buffer(stdin);
  try {
    return await readFile(resolve(cwd, written));
  } catch (error) {
    return describeUnreadable(error) ?? `cannot be read (${error}); check the path and its permissions`;
  }
}

/** Null for what is not UTF-8; a byte order mark is dropped. */
export function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
