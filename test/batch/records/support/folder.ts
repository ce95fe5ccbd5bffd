/** A new folder for one test, below the one that the run removes when it ends. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'journal-'));
}
