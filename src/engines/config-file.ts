/** Reads and writes `engines.json`. It names programs to run, so it belongs to the user and never to a project. */
import { randomUUID } from 'node:crypto';
import { open, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { configurationFailure, Failure } from '../base/failure.ts';
import { makeFolder } from '../base/folder.ts';
import { describeUnreadable, errorCode, onDisk } from '../base/system-error.ts';
import type { EnginesConfig } from './config.ts';

/** A hundred engines take a tenth of it. */
const LARGEST_BYTES = 1024 * 1024;

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** Write permission of group and others. */
const WRITABLE_BY_OTHERS = 0o022;

export interface EnginesLocation {
  readonly path: string;
  /** The option or variable that names the file; null for the default file, which may be missing. */
  readonly chooser: string | null;
}

interface ReadEngines {
  /** Checked, with spaces around values removed. */
  readonly config: EnginesConfig;
  /** The same as it is in the file, to be changed and saved. */
  readonly written: EnginesConfig;
}

/**
 * Reads the file. Returns null if the default file is missing.
 * @param warn called if other users may write to the file
 * @throws Failure (`configuration`) for a file that cannot be used
 */
export async function readEnginesFile(
  { path, chooser }: EnginesLocation,
  warn: (text: string) => void,
): Promise<ReadEngines | null> {
  const text = await readText(path, chooser, warn);
  if (text === null) return null;
  const written = parseJson(text, path);
  // Users without the file do not load the schema.
  const { checkEngines } = await import('./config-check.ts');
  const config = checkEngines(written, path);
  return { config, written: written as EnginesConfig }; // checked; trimming changes no type
}

async function readText(
  path: string,
  chooser: string | null,
  warn: (text: string) => void,
): Promise<string | null> {
  try {
    const file = await open(path, 'r');
    try {
      const facts = await file.stat();
      if (!facts.isFile()) throw engineFileFailure(`${path} is not a file`, 'Name a file.');
      if (facts.size > LARGEST_BYTES) {
        throw engineFileFailure(
          `${path} has ${facts.size} bytes; at most ${LARGEST_BYTES} are read`,
          'Check that it is the right file.',
        );
      }
      // Windows has no such bits: Node shows 0666 for every file there.
      if (process.platform !== 'win32' && (facts.mode & WRITABLE_BY_OTHERS) !== 0) {
        warn(
          `${path} can be changed by other users, who could make vloc run their programs; run: chmod 600 '${path}'`,
        );
      }
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT';
    if (isMissing && chooser === null) return null;
    if (error instanceof Failure) throw error;
    const named = chooser === null ? '' : `; ${chooser} names it`;
    const reason = describeUnreadable(error) ?? (error instanceof Error ? error.message : String(error));
    throw engineFileFailure(`cannot read ${path}: ${reason}${named}`, 'Check the path and its permissions.');
  }
}

function parseJson(text: string, path: string): unknown {
  const json = text.replace(/^\uFEFF/, '');
  try {
    return JSON.parse(json);
  } catch {
    // Node's own message has no position for most mistakes, and quotes the text, which may hold a key.
    const { offset, expected } = findSyntaxError(json);
    const before = json.slice(0, offset).split('\n');
    const where = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
    throw engineFileFailure(
      `${path} is not JSON: ${where}: expected ${expected}`,
      'Fix the file at that place.',
    );
  }
}

function engineFileFailure(message: string, advice: string): Failure {
  return configurationFailure('ENGINES_INVALID', message, advice);
}

const SPACE = /[ \t\r\n]*/y;
const STRING = String.raw`"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
const TEXT = new RegExp(STRING, 'y');
const SCALAR = new RegExp(
  String.raw`${STRING}|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null`,
  'y',
);

/** Finds where a text stops being JSON. */
function findSyntaxError(text: string): { readonly offset: number; readonly expected: string } {
  let at = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const length = pattern.exec(text)?.[0].length ?? 0;
    at += length;
    return length > 0;
  };
  const take = (sign: string): boolean => {
    skip(SPACE);
    if (text[at] !== sign) return false;
    at += 1;
    return true;
  };
  const stop = (expected: string) => {
    skip(SPACE);
    return { offset: at, expected };
  };
  /** The closing signs of the open lists and objects. */
  const open: (']' | '}')[] = [];
  const startMember = () => {
    skip(SPACE);
    return skip(TEXT) ? (take(':') ? null : stop('":"')) : stop('a name in double quotes');
  };
  for (;;) {
    if (take('{')) {
      open.push('}');
      if (!take('}')) {
        const fault = startMember();
        if (fault !== null) return fault;
        continue;
      }
      open.pop();
    } else if (take('[')) {
      open.push(']');
      if (!take(']')) continue;
      open.pop();
    } else {
      skip(SPACE);
      if (!skip(SCALAR)) return stop('a value');
    }
    for (let end = open.at(-1); end === undefined || !take(','); end = open.at(-1)) {
      if (end === undefined) return stop('the end of the file');
      if (!take(end)) return stop(`"," or "${end}"`);
      open.pop();
    }
    if (open.at(-1) === '}') {
      const fault = startMember();
      if (fault !== null) return fault;
    }
  }
}

/**
 * Replaces the file in one step; only the user may read it. If the path is a link, the file that it points to is replaced.
 * @throws Failure (`disk`)
 */
export async function saveEnginesFile(path: string, file: EnginesConfig): Promise<void> {
  await onDisk(path, async () => {
    await makeFolder(dirname(path), PRIVATE_FOLDER);
    const target = await realpath(path).catch(() => path);
    const draft = `${target}.${randomUUID()}.tmp`;
    try {
      await writeFile(draft, `${JSON.stringify(file, null, 2)}\n`, { mode: PRIVATE_FILE, flag: 'wx' });
      await rename(draft, target);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  });
}
