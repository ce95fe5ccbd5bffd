/** The programs of this machine without one, or with another one in its place. */
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { rememberingPath } from './remembered-programs.ts';

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

/** Returns a value of PATH with a script of the shell as this program; it goes with the test. */
export function pathWith(program: string, ...lines: readonly string[]): string {
  const folder = makeFolder();
  writeFileSync(join(folder, program), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
  return [folder, rememberingPath()].join(delimiter);
}
