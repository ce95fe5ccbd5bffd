/** The folders that an agent may use: paths are compared after links are followed. */
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import PQueue from 'p-queue';
import { type Failure, usageFailure } from '../../base/failure.ts';
import { errorCode } from '../../base/system-error.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { Spending } from '../context/context.ts';

export interface AgentFolders {
  /** Real paths. Writable folders are readable too. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/**
 * Opens the folders that the server was started with.
 * @throws Failure (`usage`) for one that does not exist
 */
export async function openFolders(
  read: readonly string[],
  write: readonly string[],
  cwd: string,
): Promise<AgentFolders> {
  const open = (folders: readonly string[]) =>
    Promise.all(folders.map((folder) => openFolder(resolve(cwd, folder))));
  const [readable, writable] = await Promise.all([open(read), open(write)]);
  return { readable: [...readable, ...writable], writable };
}

async function openFolder(folder: string): Promise<string> {
  try {
    await readdir(folder);
    return await realpath(folder);
  } catch (error) {
    throw invalidCallFailure(
      `the folder ${folder} cannot be used (${errorCode(error) || 'unknown reason'})`,
      'Name folders that exist with --read and --write.',
    );
  }
}

const isBelow = (path: string, folder: string) => {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

type Access = 'read' | 'write';

/**
 * The absolute path that a word means, relative to the first folder of the access. What it leads to is in the folders, and so is
 * everything below it.
 * @throws Failure (`usage`) with the code OUTSIDE_FOLDERS
 */
export async function confinePath(folders: AgentFolders, word: string, access: Access): Promise<string> {
  const allowed = access === 'read' ? folders.readable : folders.writable;
  const [first] = allowed;
  if (first === undefined || word.includes('\0')) throw outsideFoldersFailure(word, access);
  const path = resolve(first, word);
  const start = isPattern(word) && !(await exists(path)) ? fixedPart(path, allowed) : path;
  await checkPath(start, start, allowed, access);
  await checkLinks(await realpathOfStart(start), allowed, access, new Set());
  return path;
}

/** Characters that make a glob of a path. */
const PATTERN = /[*?[\]{}()!]/;
const isPattern = (word: string) => PATTERN.test(word);

/** The folder above the first part of a pattern that is not fixed; the names of the allowed folders are fixed. */
function fixedPart(path: string, allowed: readonly string[]): string {
  const root = allowed.find((folder) => isBelow(path, folder)) ?? sep;
  const parts = relative(root, path).split(sep);
  const at = parts.findIndex(isPattern);
  return at < 0 ? path : join(root, ...parts.slice(0, at));
}

/** As the commands read it: a file or folder whose name looks like a pattern is that file or folder. */
async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The real path of what exists, and of the nearest folder above what does not. */
async function realpathOfStart(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const above = dirname(path);
    if (errorCode(error) !== 'ENOENT' || above === path) throw outsideFoldersFailure(path, 'read');
    return join(await realpathOfStart(above), basename(path));
  }
}

async function checkPath(
  path: string,
  shown: string,
  allowed: readonly string[],
  access: Access,
): Promise<void> {
  const real = await realpathOfStart(path);
  if (!allowed.some((folder) => isBelow(real, folder))) throw outsideFoldersFailure(shown, access);
}

/** Refuses links below a folder that lead out of the allowed ones. */
async function checkLinks(
  folder: string,
  allowed: readonly string[],
  access: Access,
  seen: Set<string>,
): Promise<void> {
  if (seen.has(folder)) return;
  seen.add(folder);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await checkLinks(path, allowed, access, seen);
    if (!entry.isSymbolicLink()) continue;
    await checkPath(path, path, allowed, access);
    await checkLinks(await realpathOfStart(path), allowed, access, seen);
  }
}

function outsideFoldersFailure(path: string, access: Access): Failure {
  const flag = access === 'read' ? '--read or --write' : '--write';
  return usageFailure(
    'OUTSIDE_FOLDERS',
    `${path} is not in a folder that this server may ${access}`,
    `Use a path in those folders. Only the user can allow others: restart \`vloc mcp\` with ${flag}.`,
  );
}

export interface Session {
  /** Credits of the new jobs of the session; null if the service does not report what one of them costs. */
  readonly spent: () => number | null;
  /** Null without a limit, and if it is unknown what was spent. */
  readonly left: () => number | null;
  /**
   * Runs a call that may pay. Only one runs at a time, so that none spends what another has counted on.
   * @throws Failure (`credits`) if nothing is left; the reason of the signal when that is aborted before its turn
   */
  pay<T>(signal: AbortSignal, work: (spending: Spending) => Promise<T>): Promise<T>;
}

/** @param maxCredits null for no limit */
export function createSession(maxCredits: number | null): Session {
  let before = 0;
  let current = 0;
  /** True if the cost of a job is unknown: nothing more can be sent within a limit. */
  let isUnknown = false;
  const queue = new PQueue({ concurrency: 1 });
  const spent = () => (isUnknown ? null : before + current);
  const left = () => (maxCredits === null || isUnknown ? null : Math.max(0, maxCredits - before - current));
  const spending: Spending = {
    // The run subtracts its own jobs itself.
    left: () => (maxCredits === null ? Number.POSITIVE_INFINITY : isUnknown ? null : maxCredits - before),
    count(ofThisRun) {
      isUnknown ||= ofThisRun === null;
      current = Math.max(current, ofThisRun ?? 0);
    },
  };
  return {
    spent,
    left,
    pay(signal, work) {
      const run = async () => {
        signal.throwIfAborted();
        try {
          return await work(spending);
        } finally {
          before += current;
          current = 0;
        }
      };
      return queue.add(run);
    },
  };
}

/**
 * The failure of a call that would exceed a limit, with advice for an agent.
 * @param left see `Session`
 */
export function sessionLimitFailure(failure: Failure, left: number | null): Failure {
  const { code, advice: known } = failure.facts;
  // An agent that could state prices could get around the limit.
  if (code === 'PRICE_UNKNOWN' && known?.includes('--price') === true) {
    const prices = /--price ([\w=.,]+\w)/.exec(known)?.[1] ?? 'KIND=CREDITS';
    const advice = `Leave \`max_credits\` out, or ask the user to set VLOC_PRICE to the price of a unit, as in ${prices}, and to restart \`vloc mcp\`. Then repeat the call: only the rest runs.`;
    return failure.with({ advice });
  }
  if (code !== 'MAX_CREDITS_REACHED' || left === null) return failure;
  const advice = `This session has ${left} credits left of --max-credits of \`vloc mcp\`. Tell the user; only they can start it with a higher limit.`;
  return failure.with({ advice });
}
