/** The programs of this machine but for one. */
import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { makeFolder } from './make-folder.ts';

/** Returns a value of PATH with which a program is not found; it goes with the test. */
export function pathWithout(program: string): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders
    .map((folder) => (existsSync(join(folder, program)) ? copyWithout(folder, program) : folder))
    .join(delimiter);
}

function copyWithout(folder: string, program: string): string {
  const copy = makeFolder();
  for (const name of readdirSync(folder)) {
    if (name !== program) symlinkSync(join(folder, name), join(copy, name));
  }
  return copy;
}
