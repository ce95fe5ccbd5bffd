/** Runs the programs of engines: minimal environment, limits, limited output, cancelling of whole process trees. */
import { accessSync, constants, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import { ChildFailure, ProgramMissing } from './failures.ts';

/** Larger output is either read line by line or written to files. */
const DEFAULT_STDOUT_BYTES = 8 * 1024 * 1024;

interface RunOptions {
  readonly signal: AbortSignal;
  /** Working folder, also for temporary files. */
  readonly folder: string;
  /**
   * Text for stdin. Default: empty stdin. `open` keeps a pipe open until the child ends; `connect` also receives what
   * writes to it and closes it, when the child has started.
   */
  readonly stdin?: { readonly text: string } | 'open' | { connect(pipe: ChildInput): void };
  /** Receives stdout line by line. With this or the next one, stdout is not collected. */
  readonly onLine?: (line: string) => void;
  readonly onErrorLine?: (line: string) => void;
  /** The child is ended when it writes more than this, or a longer line. Default: 8 MiB. */
  readonly maxStdoutBytes?: number;
  readonly limits?: ChildLimits;
  /** Variables besides the minimal ones, such as all of the user's for a program of the user. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The stdin of a running child. */
export interface ChildInput {
  write(text: string): void;
  close(): void;
}

export interface Programs {
  /** The useful number of concurrent children. */
  readonly parallel: number;
  /** Returns the full path of an installed program, or null. */
  locate(name: string): string | null;
  /**
   * Runs a program (a name to search for, or a full path) and returns its stdout. What it leaves running is ended.
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
  const { endWithLeader, endWithProcess, linesOf, startGroup } = await import('./start.ts');
  const [first = path, ...rest] = [...(await launcher(options.limits ?? {}, searchPath)), path, ...args];
  // An abort until now would otherwise go unnoticed until the program runs.
  options.signal.throwIfAborted();
  const { stdin, onLine, onErrorLine, maxStdoutBytes = DEFAULT_STDOUT_BYTES } = options;
  const isRead = onLine !== undefined || onErrorLine !== undefined;
  const child = startGroup(first, rest, {
    cwd: options.folder,
    env: environment(options, searchPath),
    cancelSignal: options.signal,
    ...stdinOf(stdin),
    // execa makes a message of all that it collects when a program fails, which takes a minute for 64 MiB.
    buffer: false,
  });
  endWithProcess(child);
  endWithLeader(child);
  const lastWords = keepLastLines(child.stderr);
  const tooMuch = childFailure(program, {}, 'its output is over the limit');
  const faults: unknown[] = [];
  const end = (fault: unknown) => {
    faults.push(fault);
    child.kill();
  };
  const output = isRead ? null : collect(child.stdout, maxStdoutBytes, () => end(tooMuch));
  const read = async (from: 'stdout' | 'stderr', report: (line: string) => void) => {
    endAtLongLine(child[from], maxStdoutBytes, () => end(tooMuch));
    for await (const line of linesOf(child, from)) {
      try {
        report(line);
      } catch (error) {
        // Before the loop is left, which waits for the end of the program.
        return end(error);
      }
    }
  };
  if (typeof stdin === 'object' && 'connect' in stdin) {
    // A child that has ended reads nothing; its end is reported below.
    child.stdin?.on('error', () => {});
    stdin.connect({
      write: (text) => void child.stdin?.write(text),
      close: () => void child.stdin?.end(),
    });
  }
  const [result] = await Promise.all([
    child,
    onLine === undefined ? null : read('stdout', onLine),
    onErrorLine === undefined ? null : read('stderr', onErrorLine),
  ]);
  options.signal.throwIfAborted();
  if (faults.length > 0) throw faults[0];
  if (result.exitCode !== 0) {
    // Only a program that did not start needs the message of the system.
    const isStarted = result.exitCode !== undefined || result.signal !== undefined;
    throw childFailure(program, result, lastWords() || (isStarted ? '' : (result.message ?? '')));
  }
  return Buffer.concat(output ?? []);
}

/** A minimal environment has no variables of vloc, which may be secrets. Temporary files go where they are removed. */
function environment(
  { env = {}, folder }: RunOptions,
  searchPath: string,
): Record<string, string | undefined> {
  const temporary = { TMPDIR: folder, TEMP: folder };
  // UTF-8 because Apertium and espeak-ng, and Python, follow the locale.
  const hasLocale = ['LC_ALL', 'LC_CTYPE', 'LANG'].some((name) => (env[name] ?? '') !== '');
  return { PATH: searchPath, ...(hasLocale ? {} : { LANG: 'C.UTF-8' }), ...env, ...temporary };
}

function stdinOf(stdin: RunOptions['stdin']): { input: string } | { stdin: 'pipe' | 'ignore' } {
  if (stdin === undefined) return { stdin: 'ignore' };
  return stdin === 'open' || 'connect' in stdin ? { stdin: 'pipe' } : { input: stdin.text };
}

function childFailure(
  program: string,
  result: { readonly exitCode?: number | undefined; readonly signal?: string | undefined },
  lastWords: string,
): ChildFailure {
  return new ChildFailure(basename(program), {
    exitCode: result.exitCode ?? null,
    endedBy: result.signal ?? null,
    lastWords,
  });
}

/** Returns a list that receives the output as it arrives. */
function collect(stream: Readable, maxBytes: number, end: () => void): readonly Buffer[] {
  const chunks: Buffer[] = [];
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length <= maxBytes) return;
    end();
    stream.destroy();
  });
  return chunks;
}

/** A line is kept in memory until it ends. */
function endAtLongLine(stream: Readable, maxBytes: number, end: () => void): void {
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    const last = chunk.lastIndexOf('\n');
    length = last < 0 ? length + chunk.length : chunk.length - last;
    if (length <= maxBytes) return;
    end();
    stream.destroy();
  });
}

/** Enough for the last lines of a program, which show why it failed. */
const LAST_BYTES = 16 * 1024;

function keepLastLines(stream: Readable): () => string {
  let end = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    end = Buffer.concat([end, chunk]).subarray(-LAST_BYTES);
  });
  return () => {
    const lines = end.toString('utf8').split(/[\r\n]+/);
    return lines
      .filter((line) => line !== '')
      .slice(-4)
      .map((line) => line.slice(0, 500))
      .join('\n');
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

let parentDeathSignal: Promise<boolean> | undefined;

/** Not every `setpriv` has the option (BusyBox does not), so it is tried once. */
async function tryParentDeathSignal(setpriv: string, searchPath: string): Promise<boolean> {
  const { startProgram } = await import('./start.ts');
  const options = { stdio: 'ignore', timeout: 2_000, env: { PATH: searchPath } } as const;
  return (await startProgram(setpriv, ['--pdeathsig', 'KILL', 'true'], options)).exitCode === 0;
}

/**
 * Returns the command prefix of a child, from the installed small system programs. It sets limits, disables core dumps
 * (they would contain the media), ends the child together with this process even if this process is killed, and lowers
 * the priority so that the machine stays usable.
 */
async function launcher(limits: ChildLimits, searchPath: string): Promise<string[]> {
  const words: string[] = [];
  const prlimit = locateProgram('prlimit', searchPath);
  if (prlimit !== null) {
    words.push(prlimit, '--core=0');
    if (limits.memoryBytes !== undefined) words.push(`--as=${limits.memoryBytes}`);
    if (limits.cpuSeconds !== undefined) words.push(`--cpu=${limits.cpuSeconds}`);
  }
  const setpriv = locateProgram('setpriv', searchPath);
  if (setpriv !== null) {
    parentDeathSignal ??= tryParentDeathSignal(setpriv, searchPath);
    if (await parentDeathSignal) words.push(setpriv, '--pdeathsig', 'KILL');
  }
  const nice = locateProgram('nice', searchPath);
  // 5 of 19: below the user's own programs, above background work.
  if (nice !== null) words.push(nice, '-n', '5');
  return words;
}
