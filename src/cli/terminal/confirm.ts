import { createInterface } from 'node:readline/promises';
import type { Io } from '../../commands/io.ts';

/** Asks on stderr and reads one line; anything but yes is no, and so is an input that is no terminal. */
export async function askYesNo(question: string, io: Io): Promise<boolean> {
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) return false;
  const reader = createInterface({ input: io.stdin, output: io.stderr });
  try {
    const answer = await reader.question(`${question} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    reader.close();
  }
}
