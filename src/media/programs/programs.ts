/**
 * Runs all external programs: minimal environment, limits, limited output, cancelling of whole process trees. Each child leads
 * its own process group, which includes shell pipelines.
 */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { ChildFailure, ProgramMissing } from './failures.ts';

/** Larger output is either read line by line or written to files. */
const DEFAULT_STDOUT_BYTES = 8 * 1024 * 1024;

interface RunOptions {
  readonly signal: AbortSignal;
  /** Working folder, also for temporary files. */
  readonly folder: string;
  /**
   * Text for stdin. Default: empty stdin. `open` keeps a pipe open until the child ends; `connect` also receives a
   * function that writes to it, when the child has started.
   */
  readonly stdin?: { readonly text: string } | 'open' | { connect(write: (text: string) => void): void };
  /** Receives stdout line by line. If it is set, stdout is not collected. */
  readonly onLine?: (line: string) => void;
  readonly onErrorLine?: (line: string) => void;
  /** The child is ended when it writes more than this. Default: 8 MiB. */
  readonly maxStdoutBytes?: number;
  readonly limits?: ChildLimits;
  /**
   * All variables of a program of the user. What such a program leaves running is ended after it. Default: a minimal
   * environment, as for the engines that come with vloc.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface Programs {
  /** The useful number of concurrent children. */
  readonly parallel: number;
  /** Returns the full path of an installed program, or null. */
  locate(name: string): string | null;
  /**
   * Runs a program (a name to search for, or a full path) and returns its stdout.
   * @throws ProgramMissing, ChildFailure, or the signal's reason after the signal was aborted and the tree has ended
   */
  run(program: string, args: readonly string[], options: RunOptions): Promise<Buffer>;
}

/** Creates the runner for programs in the folders of `searchPath` (in the format of the PATH variable). */
export function createPrograms(searchPath: string): Programs {
  return {
    parallel: availableParallelism(),
    locate: (name) => locateProgram(name, searchPath),
    run: (program, args, options) => runProgram(program, args, options, searchPath),
  };
}

async function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions,
  searchPath: string,
): Promise<Buffer> {
  options.signal.throwIfAborted();
  const path = isAbsolute(program) ? program : locateProgram(program, searchPath);
  if (path === null) throw new ProgramMissing(program);
  // Lazy, because loading it takes longer than a whole command without media work.
  const { execa } = await import('execa');
  // An abort during the import would otherwise go unnoticed: its event is over when the child listens for it.
  options.signal.throwIfAborted();
  const [first, ...rest] = [...launcher(options.limits ?? {}, searchPath), path, ...args];
  const child = execa(first ?? path, rest, {
    cwd: options.folder,
    extendEnv: false,
    env: environment(options, searchPath),
    ...stdinOf(options.stdin),
    stdout: 'pipe',
    stderr: 'pipe',
    buffer: false,
    reject: false,
    detached: true,
    cleanup: false,
    windowsHide: true,
  });
  return superviseChild(program, child, options);
}

/** A minimal environment has no variables of vloc, which may be secrets. Temporary files go where they are removed. */
function environment({ env, folder }: RunOptions, searchPath: string): Record<string, string | undefined> {
  const temporary = { TMPDIR: folder, TEMP: folder };
  // UTF-8 because Apertium and espeak-ng, and Python, follow the locale.
  if (env === undefined) return { PATH: searchPath, LANG: 'C.UTF-8', ...temporary };
  const hasLocale = ['LC_ALL', 'LC_CTYPE', 'LANG'].some((name) => (env[name] ?? '') !== '');
  return { PATH: searchPath, ...(hasLocale ? {} : { LANG: 'C.UTF-8' }), ...env, ...temporary };
}

function stdinOf(stdin: RunOptions['stdin']): { input: string } | { stdin: 'pipe' | 'ignore' } {
  if (stdin === undefined) return { stdin: 'ignore' };
  return stdin === 'open' || 'connect' in stdin ? { stdin: 'pipe' } : { input: stdin.text };
}

interface ChildEnd {
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly message?: string | undefined;
}

/** The part of execa's subprocess that is used here. */
interface Subprocess extends PromiseLike<ChildEnd> {
  readonly pid?: number | undefined;
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly nodeChildProcess: { once(event: 'exit', listener: () => void): unknown };
}

/** How long output may arrive after the end of a program, in milliseconds: the system delivers it immediately. */
const LATE_OUTPUT_MS = 1_000;

/** Ends what a program left running. It would hold the pipes open, and the call would wait for it. */
function endLeftovers(pid: number, child: Subprocess): void {
  child.nodeChildProcess.once('exit', () => {
    endRest(pid);
    // A process that has left the group cannot be ended, but nothing waits for it.
    const pipes = [child.stdout, child.stderr];
    setTimeout(() => pipes.forEach((pipe) => void pipe.destroy()), LATE_OUTPUT_MS).unref();
  });
}

async function superviseChild(program: string, child: Subprocess, options: RunOptions): Promise<Buffer> {
  const { pid } = child;
  const end = () => pid !== undefined && endTree(pid);
  const forget = pid === undefined ? () => {} : trackTree(pid);
  options.signal.addEventListener('abort', end, { once: true });
  if (pid !== undefined && options.env !== undefined) endLeftovers(pid, child);
  const faults: unknown[] = [];
  const fault = (reason: unknown) => {
    faults.push(reason);
    end();
    // It would be read until the program is killed, and a program that writes without end keeps a core busy with it.
    child.stdout.destroy();
  };
  const lastWords = keepLastLines(4);
  const stdout = readOutput(program, child, options, lastWords.add, fault);
  if (typeof options.stdin === 'object' && 'connect' in options.stdin) {
    const { stdin } = child;
    // A child that has ended reads nothing; its end is reported below.
    stdin?.on('error', () => {});
    options.stdin.connect((text) => void stdin?.write(text));
  }
  try {
    const result = await child;
    options.signal.throwIfAborted();
    if (faults.length > 0) throw faults[0];
    if (result.exitCode !== 0) {
      // Only a program that did not start needs execa's message, which lists all arguments.
      const isStarted = result.exitCode !== undefined || result.signal !== undefined;
      throw childFailure(program, result, lastWords.text() || (isStarted ? '' : (result.message ?? '')));
    }
    return stdout();
  } finally {
    options.signal.removeEventListener('abort', end);
    forget();
  }
}

/** Reads both streams. Calls `fault` for output above the limit and for the first error thrown by a line callback. */
function readOutput(
  program: string,
  child: Subprocess,
  options: RunOptions,
  keepLine: (line: string) => void,
  fault: (reason: unknown) => void,
): () => Buffer {
  let hasFailed = false;
  const guarded = (onLine: (line: string) => void) => (line: string) => {
    if (hasFailed) return;
    try {
      onLine(line);
    } catch (error) {
      hasFailed = true;
      fault(error); // an error thrown inside a stream would end the whole service
    }
  };
  readLines(child.stderr, keepLine);
  if (options.onErrorLine !== undefined) readLines(child.stderr, guarded(options.onErrorLine));
  if (options.onLine === undefined) {
    const tooMuch = () => fault(childFailure(program, {}, 'its output is over the limit'));
    return collectOutput(child.stdout, options.maxStdoutBytes ?? DEFAULT_STDOUT_BYTES, tooMuch);
  }
  readLines(child.stdout, guarded(options.onLine));
  return () => Buffer.alloc(0);
}

function childFailure(program: string, result: ChildEnd, lastWords: string): ChildFailure {
  return new ChildFailure(basename(program), {
    exitCode: result.exitCode ?? null,
    endedBy: result.signal ?? null,
    lastWords,
  });
}

/** A longer line is split: none of these programs writes such lines intentionally. */
const MAX_LINE = 1024 * 1024;

/** Calls `onLine` with each line of a stream, without its line break. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new TextDecoder();
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/[\r\n]+/);
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) {
      lines.push(rest);
      rest = '';
    }
    for (const line of lines) if (line !== '') onLine(line);
  });
  stream.on('end', () => {
    if (rest !== '') onLine(rest);
  });
}

/** Collects a stream up to `maxBytes`. Drops the rest and calls `onOverflow` once. */
export function collectOutput(stream: Readable, maxBytes: number, onOverflow: () => void): () => Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    const before = size;
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else if (before <= maxBytes) onOverflow();
  });
  return () => Buffer.concat(chunks);
}

/** Keeps the last lines, enough to show why a program failed. */
export function keepLastLines(count: number): { add: (line: string) => void; text: () => string } {
  const lines: string[] = [];
  return {
    add(line) {
      lines.push(line.slice(0, 500));
      if (lines.length > count) lines.shift();
    },
    text: () => lines.join('\n'),
  };
}

/** Limits of one child, enforced by the kernel where `prlimit` is installed. */
interface ChildLimits {
  /** Address space in bytes. */
  readonly memoryBytes?: number;
  /** Processor time in seconds. */
  readonly cpuSeconds?: number;
}

const WINDOWS_ENDINGS = ['.exe', '.cmd', '.bat'];

/** Returns the full path of a program, or null if no folder of `searchPath` contains it. */
export function locateProgram(name: string, searchPath: string): string | null {
  const endings = process.platform === 'win32' ? WINDOWS_ENDINGS : [''];
  for (const folder of searchPath.split(delimiter)) {
    if (folder === '') continue;
    for (const ending of endings) {
      const candidate = join(folder, name + ending);
      if (isExecutable(candidate)) return candidate;
    }
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

let parentDeathSignal: boolean | undefined;

/** Not every `setpriv` has the option (BusyBox does not), so it is tried once. */
function hasParentDeathSignal(setpriv: string): boolean {
  if (parentDeathSignal === undefined) {
    try {
      execFileSync(setpriv, ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore', timeout: 2_000 });
      parentDeathSignal = true;
    } catch {
      parentDeathSignal = false;
    }
  }
  return parentDeathSignal;
}

/**
 * Returns the command prefix of a child, from the installed small system programs. It sets limits, disables core dumps
 * (they would contain the media), ends the child together with this process even if this process is killed, and lowers
 * the priority so that the machine stays usable.
 */
function launcher(limits: ChildLimits, searchPath: string): string[] {
  const words: string[] = [];
  const prlimit = locateProgram('prlimit', searchPath);
  if (prlimit !== null) {
    words.push(prlimit, '--core=0');
    if (limits.memoryBytes !== undefined) words.push(`--as=${limits.memoryBytes}`);
    if (limits.cpuSeconds !== undefined) words.push(`--cpu=${limits.cpuSeconds}`);
  }
  const setpriv = locateProgram('setpriv', searchPath);
  if (setpriv !== null && hasParentDeathSignal(setpriv)) words.push(setpriv, '--pdeathsig', 'KILL');
  const nice = locateProgram('nice', searchPath);
  // 5 of 19: below the user's own programs, above background work.
  if (nice !== null) words.push(nice, '-n', '5');
  return words;
}

/** Time for a clean exit before the group is killed. Cancelling must take less than 2 s. */
const GRACE_MS = 1_200;

const running = new Set<number>();
let watching = false;

/** Registers a group to be killed when this process exits. Returns a function that removes the registration. */
export function trackTree(leader: number): () => void {
  if (!watching) {
    watching = true;
    process.once('exit', () => {
      for (const pid of running) signalTree(pid, 'SIGKILL');
    });
  }
  running.add(leader);
  return () => running.delete(leader);
}

/** Asks a group to exit and kills the remaining processes after 1.2 s. */
export function endTree(leader: number): void {
  signalTree(leader, 'SIGTERM');
  setTimeout(() => signalTree(leader, 'SIGKILL'), GRACE_MS).unref();
}

/** Kills what is left of a group after its leader has ended. */
function endRest(leader: number): void {
  signalTree(leader, 'SIGKILL');
}

function signalTree(leader: number, signal: NodeJS.Signals): void {
  try {
    // Windows has no process groups, so only the child is ended.
    process.kill(process.platform === 'win32' ? leader : -leader, signal);
  } catch {
    // All processes of the group have already ended.
  }
}
