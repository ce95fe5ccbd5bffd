/** Options that were not given, filled in from the project file. */

import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { configurationFailure, type Failure } from '../base/failure.ts';
import { homeFolder } from '../base/home-folder.ts';
import { factsOf, type Option, type RawOptions } from '../base/option.ts';
import type { Command } from '../commands/context/command.ts';
import type { Io } from '../commands/context/context.ts';
import { COMMANDS } from '../commands/tree.ts';
import { readProjectFile } from '../profiles/project-file.ts';
import { nearestName } from '../protocol/nearest.ts';
import { readValue } from './options.ts';

interface Called {
  readonly command: Pick<Command, 'options'>;
  readonly options: RawOptions;
  /** Names of the options that were given on the command line. */
  readonly given: readonly string[];
}

/**
 * The options of a run, those of the command line first.
 * @throws Failure (`configuration`) for a default that no command knows, or whose value its option does not take
 */
export async function withProjectDefaults(
  { command, options, given }: Called,
  io: Io,
  warn: (text: string) => void,
): Promise<RawOptions> {
  if (Object.keys(command.options).length === 0) return options;
  const project = await readProjectFile(io.cwd, homeFolder(io.env), warn);
  const defaults = Object.entries(project?.settings.defaults ?? {});
  if (project === null || defaults.length === 0) return options;
  const faults: { pointer: string; detail: string }[] = [];
  const filled: Record<string, unknown> = {};
  for (const [written, value] of defaults) {
    const name = optionName(written);
    const option = command.options[name];
    const pointer = `defaults.${written}`;
    if (option === undefined) {
      const known = await knownNames();
      if (!known.includes(name)) faults.push({ pointer, detail: unknownName(written, known) });
      continue;
    }
    const read = readDefault(option, value, dirname(project.path));
    if ('fault' in read) faults.push({ pointer, detail: read.fault });
    else if (!given.includes(name) && !isOverruled(name, given)) filled[name] = read.value;
  }
  if (faults.length > 0) throw projectDefaultsFailure(project.path, faults);
  return { ...options, ...filled };
}

/** Flags that say opposite things: the one on the command line overrides a default of the other. */
const OPPOSITES: readonly (readonly string[])[] = [
  ['clobber', 'skipExisting'],
  ['mark', 'noMark'],
];

function isOverruled(name: string, given: readonly string[]): boolean {
  return OPPOSITES.some((group) => group.includes(name) && group.some((other) => given.includes(other)));
}

/** `skip_existing` in the file is the option `--skip-existing`. */
function optionName(written: string): string {
  return written.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function writtenName(option: string): string {
  return option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Options of all commands; loaded only where the called command does not know a name. */
async function knownNames(): Promise<string[]> {
  const commands = await Promise.all(COMMANDS.map(({ leaf }) => leaf.load()));
  return [...new Set(commands.flatMap((command) => Object.keys(command.options)))];
}

function unknownName(written: string, known: readonly string[]): string {
  const meant = nearestName(written, known.map(writtenName));
  return `no command has this option${meant === null ? '' : `; did you mean ${meant}?`}`;
}

/** A JSON value in the type of the option. Paths are relative to the project file, not to the current folder. */
function readDefault(option: Option, value: unknown, folder: string): ReturnType<typeof readValue> {
  const { type, value: placeholder } = factsOf(option);
  const isScalar = type === 'text' || type === 'number' || type === 'duration';
  if (isScalar && typeof value !== 'string' && typeof value !== 'number') {
    return { fault: 'expected a string or a number' };
  }
  const isPath = type === 'text' && (placeholder === 'dir' || (placeholder === 'file' && value !== '-'));
  if (isScalar) {
    const read = readValue(option, String(value));
    return isPath && 'value' in read ? { value: resolve(folder, String(read.value)) } : read;
  }
  if (type === 'list' && typeof value === 'string') return readValue(option, value);
  const given = type === 'texts' && typeof value === 'string' ? [value] : value;
  const result = v.safeParse(option, given);
  if (result.success) return { value: result.output };
  // The message of the option is for the command line.
  return { fault: type === 'pairs' ? 'expected an object of strings' : result.issues[0].message };
}

function projectDefaultsFailure(
  path: string,
  errors: readonly { pointer: string; detail: string }[],
): Failure {
  return configurationFailure(
    'PROJECT_FILE_INVALID',
    `${path} sets options that cannot be used`,
    'Names are those of the options, with underscores: see the help of the command.',
    { errors },
  );
}
