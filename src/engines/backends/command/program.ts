/** Programs of the user: arguments with placeholders, their environment, their results, and why one failed. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, sep } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import {
  asJobFailure,
  ChildFailure,
  ProgramMissing,
  withoutPaths,
} from '../../../media/programs/failures.ts';
import type { EngineRun } from '../../../media/work.ts';
import { JobFailure } from '../../../protocol/job-failure.ts';
import type { BackendParts } from '../parts.ts';
import { expandHome, unusableEntryFailure } from '../parts.ts';

/** Placeholders in arguments, in braces. */
const PLACEHOLDERS = [
  ...['input', 'output', 'out', 'stem', 'language', 'from', 'to', 'voice', 'speed'],
] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];
type Values = Partial<Record<Placeholder, string>>;

const PLACEHOLDER = /\{([a-z_]+)\}/g;

interface CommandEntry {
  readonly run: readonly string[];
  readonly timeout?: number | undefined;
}

interface RunOptions {
  readonly stdin?: string;
  readonly onLine?: (line: string) => void;
  readonly maxStdoutBytes?: number;
}

export interface UserProgram {
  /** Name of the backend, such as `command demucs`. */
  readonly name: string;
  /** Whether an argument contains a placeholder. */
  uses(placeholder: Placeholder): boolean;
  /**
   * Runs it once and returns its stdout.
   * @throws JobFailure that names the program, or the signal's reason
   */
  run(values: Values, run: EngineRun, options?: RunOptions): Promise<Buffer>;
  /** Returns a failure of this program. `what` follows its name: `wrote no subtitles`. */
  failure(what: string, cause?: unknown): JobFailure;
}

/**
 * Prepares the program of an entry. Does not start it.
 * @param allowed the placeholders that its step replaces
 * @param timeout seconds, if the entry has no limit of its own
 * @throws JobFailure if the arguments cannot work
 */
export function createProgram(
  { run: words, timeout: ownTimeout }: CommandEntry,
  parts: BackendParts,
  { allowed, timeout: usualTimeout }: { allowed: readonly Placeholder[]; timeout: number },
): UserProgram {
  const [program = '', ...args] = words.map((word) => expandHome(word, parts.env));
  const name = `command ${basename(program)}`;
  const used = new Set(args.flatMap((arg) => [...arg.matchAll(PLACEHOLDER)].map(([, found = '']) => found)));
  const wrong = [...used].find((found) => !allowed.some((one) => one === found));
  if (wrong !== undefined) {
    const known = allowed.map((one) => `{${one}}`).join(', ');
    throw unusableEntryFailure(
      `${name}: {${wrong}} in "run" is not replaced in this step; available: ${known}`,
    );
  }
  if (program.search(PLACEHOLDER) >= 0)
    throw unusableEntryFailure(`${name}: the program in "run" cannot contain a placeholder`);
  if (!isAbsolute(program) && basename(program) !== program) {
    throw unusableEntryFailure(`${name}: write the program in "run" as a name or as a full path`);
  }
  const env = childEnvironment(parts);
  const seconds = ownTimeout ?? usualTimeout;
  const failure = (what: string, cause?: unknown) =>
    new JobFailure('ENGINE_ERROR', `${name} ${what}`, { cause });

  return {
    name,
    failure,
    uses: (placeholder) => used.has(placeholder),
    async run(values, { signal, folder }, { stdin, ...options } = {}) {
      if (isAbsolute(program)) await checkProgram(name, program);
      const limit = AbortSignal.timeout(seconds * 1000);
      try {
        return await parts.programs.run(program, fill(args, values), {
          ...options,
          folder,
          env,
          signal: AbortSignal.any([signal, limit]),
          ...(stdin === undefined ? {} : { stdin: { text: stdin } }),
        });
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (limit.aborted) {
          throw failure(
            `did not finish within ${seconds} s; if it needs longer, set "timeout" in engines.json`,
            error,
          );
        }
        throw explain(error, name, signal);
      }
    },
  };
}

/** All variables of the user, except those of vloc and keys of servers. */
export function childEnvironment({ env, keyNames }: BackendParts): BackendParts['env'] {
  const entries = Object.entries(env).filter(
    ([name]) => !/^VLOC_/i.test(name) && keyNames?.has(name) !== true,
  );
  return Object.fromEntries(entries);
}

function fill(args: readonly string[], values: Values): string[] {
  return args.map((arg) =>
    // Only known placeholders are left, and a step gives a value to each that it allows.
    arg.replaceAll(PLACEHOLDER, (whole, found: Placeholder) => values[found] ?? whole),
  );
}

async function checkProgram(name: string, program: string): Promise<void> {
  try {
    await access(program, constants.X_OK);
  } catch (error) {
    throw unusableEntryFailure(`${name}: the program in "run" is missing or cannot be executed`, error);
  }
}

/** The longest quote of a program in a message. */
const QUOTE = 300;

function explain(error: unknown, name: string, signal: AbortSignal): unknown {
  if (error instanceof ProgramMissing) {
    return unusableEntryFailure(
      `${name}: the program is not installed; install it, or write its full path in engines.json`,
      error,
    );
  }
  if (!(error instanceof ChildFailure)) return asJobFailure(error, signal);
  const failure = asJobFailure(error, signal);
  if (failure instanceof JobFailure && failure.code === 'STORAGE_ERROR') return failure;
  const said = shortenOutput(error.lastWords.split('\n').at(-1) ?? '');
  return new JobFailure('ENGINE_ERROR', `${name} ${describeEnd(error)}${said === '' ? '' : ` (${said})`}`, {
    cause: error,
  });
}

function describeEnd({ exitCode, endedBy }: ChildFailure): string {
  if (endedBy === 'SIGKILL') return 'was ended by signal SIGKILL, possibly out of memory';
  if (endedBy !== null) return `was ended by signal ${endedBy}`;
  return exitCode === null ? 'failed' : `stopped with exit code ${exitCode}`;
}

/** Returns what a program said in a form for messages: one row, without colours and folders. */
export function shortenOutput(text: string): string {
  const row = stripVTControlCharacters(text)
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim();
  const shown = withoutPaths(row);
  return shown.length > QUOTE ? `${shown.slice(0, QUOTE)}…` : shown;
}

/** Enough for the files that the calls of one job write at the same time. */
const NAME_BYTES = 4;

/** Returns a new name for the file of a program. It is short: espeak-ng cuts full paths at 200 bytes without a message. */
export function nameResult(ending: string): string {
  return `${randomBytes(NAME_BYTES).toString('hex')}${ending}`;
}

/** Returns whether a program wrote this file. */
export async function isWritten(path: string): Promise<boolean> {
  return (await fileBytes(path)) !== null;
}

async function fileBytes(path: string): Promise<number | null> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : null;
  } catch {
    return null;
  }
}

/**
 * Checks a file that a program wrote below a folder. Its path must not lead out of the folder, by links either.
 * @param shown its name in messages
 * @throws JobFailure
 */
export async function checkResult(
  program: UserProgram,
  path: string,
  { folder, shown, maxBytes }: { folder: string; shown: string; maxBytes: number },
): Promise<string> {
  const bytes = await fileBytes(path);
  if (bytes === null) throw program.failure(`did not write ${shown}`);
  const real = await realpath(path);
  if (!real.startsWith((await realpath(folder)) + sep)) {
    throw program.failure(`wrote ${shown} as a link to another folder`);
  }
  if (bytes === 0) throw program.failure(`wrote nothing into ${shown}`);
  if (bytes > maxBytes) throw program.failure(`wrote ${bytes} bytes into ${shown}; the limit is ${maxBytes}`);
  return real;
}
