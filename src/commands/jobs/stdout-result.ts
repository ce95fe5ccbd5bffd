/**
 * `--out -`: the only result of a command, written to stdout. It is first written to a folder of its own, with a journal
 * like every run, so that a repeated command continues and pays nothing twice.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Delivery } from '../../batch/inputs/delivery.ts';
import { makePrivateFolder } from '../../batch/records/private-folder.ts';
import { recordsPath } from '../../batch/records/record-folder.ts';
import { stateFolder } from '../../profiles/environment.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { Context, Progress, Terminal } from '../context/context.ts';
import { outputTo } from '../context/output/forms.ts';
import { type JobOptions, RUN_OPTIONS } from './job-options.ts';

/** Options that contradict a result on stdout. */
const CONFLICTS = {
  detach: '--detach',
  watch: '--watch',
  dryRun: '--dry-run',
  oneFile: '--one-file',
  allFinished: '--all-finished',
  // A single result belongs to one shard, and the others would write nothing.
  shard: '--shard',
} as const;

/** The options that matter for a result on stdout. */
export type StdoutOptions = Pick<JobOptions, 'out'> & {
  readonly [Name in keyof typeof CONFLICTS]?: boolean | string | undefined;
};

/** @throws Failure of category usage for what contradicts `--out -` */
export function checkStdout({ present, fields, io }: Context, options: StdoutOptions): void {
  const names = Object.keys(CONFLICTS) as (keyof typeof CONFLICTS)[]; // of a constant
  const other = names.find((name) => options[name] !== undefined && options[name] !== false);
  if (other !== undefined) {
    throw invalidCallFailure(`--out - and ${CONFLICTS[other]} cannot be combined`, 'Leave one of them out.');
  }
  if (present.part !== 'pages' || fields !== null) {
    throw invalidCallFailure(
      '--out - writes the result to stdout, so nothing else can be printed there',
      'Leave out --output, --fields and --jq.',
    );
  }
  if (io.stdout.isTTY === true) {
    throw invalidCallFailure(
      '--out - writes the bytes of the result, and stdout is a terminal',
      'Send them to a file or a program: `> FILE` or `| PROGRAM`.',
    );
  }
}

/** @throws Failure of category usage unless a job of the kind has one file as its result */
export function checkOneFile(kind: JobKind): void {
  const parts = Object.values(KINDS[kind].result).filter(({ type }) => type === 'asset');
  if (parts.length !== 1) throw notOne(`a result of this kind is ${parts.length} files`);
}

/** The failure of a command that makes more, or less, than one result. */
function notOne(found: string): Error {
  return invalidCallFailure(`--out - writes exactly one file, and ${found}`, 'Use a folder: --out DIR.');
}

/** @param items their number  @throws Failure of category usage unless there is one, with one file; nothing was sent */
export function checkOneResult(kind: JobKind, items: number): void {
  checkOneFile(kind);
  if (items !== 1) throw notOne(`this command makes ${items}`);
}

/** Options that do not change what the result is. */
const ABOUT_THE_RUN: ReadonlySet<string> = new Set([
  ...Object.keys(RUN_OPTIONS),
  ...['timeout', 'clobber', 'skipExisting', 'name', 'terms', 'memory', 'anyMemory'],
]);

/** Buffers subtitles from stdin, so that they can be hashed and read again. `content` is their SHA-256. */
export async function keepStdin(
  kind: JobKind,
  io: Context['io'],
  operands: readonly string[],
): Promise<{ readonly io: Context['io']; readonly content: string | null }> {
  if (!operands.includes('-') || KINDS[kind].input !== 'subtitle') return { io, content: null };
  const bytes = await buffer(io.stdin);
  const content = createHash('sha256').update(bytes).digest('hex');
  return { io: { ...io, stdin: Readable.from([bytes]) }, content };
}

/**
 * The folder of a job command. A repeated command gets the same folder; different commands get different ones, so that
 * they can run concurrently.
 * @param content hash of stdin if it is an input; null otherwise
 */
export async function stdoutFolder(
  { io, service }: Pick<Context, 'io' | 'service'>,
  kind: JobKind,
  operands: readonly string[],
  options: JobOptions,
  content: string | null,
): Promise<string> {
  const lasting = Object.entries(options).filter(([name]) => !ABOUT_THE_RUN.has(name));
  const { VLOC_PROFILE, VLOC_BASE_URL } = io.env;
  const about = [io.cwd, service, VLOC_PROFILE, VLOC_BASE_URL, kind, operands, lasting.sort(), content];
  const name = createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 32);
  const folder = join(await openRoot(io), name);
  await makePrivateFolder(folder);
  return folder;
}

/**
 * Writes the result of an existing job to stdout.
 * @param ids the operands  @param run delivers the job and prints the paths of its files
 */
export async function jobToStdout(
  context: Context,
  options: StdoutOptions,
  ids: readonly string[],
  run: (context: Context, delivery: Delivery) => Promise<number>,
): Promise<number> {
  checkStdout(context, options);
  if (ids.length !== 1) throw notOne(`these are ${ids.length} jobs`);
  const folder = await mkdtemp(join(await openRoot(context.io), 'job-'));
  try {
    const delivery: Delivery = {
      folder,
      isFolderGiven: true,
      template: '',
      existing: 'replace',
      toStdout: true,
    };
    return await writeResult(context, (silent) => run(silent, delivery));
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** The folder that holds all of them; removes those whose jobs the service has deleted. */
async function openRoot({ env, platform, now }: Context['io']): Promise<string> {
  const root = join(stateFolder(env, platform), 'stdout');
  await makePrivateFolder(root);
  for (const name of await readdir(root)) {
    const path = join(root, name);
    const found =
      (await stat(recordsPath({ folder: path })).catch(() => null)) ?? (await stat(path).catch(() => null));
    if (found !== null && now() - found.mtimeMs > LIMITS.retentionMs) {
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
    }
  }
  return root;
}

/**
 * Runs a command that prints the path of its only result, and writes the file to stdout instead.
 * @param run gets a context whose output is captured
 */
export async function writeResult(
  context: Context,
  run: (context: Context) => Promise<number>,
): Promise<number> {
  const paths: string[] = [];
  const print = (path: string) => void paths.push(path);
  const terminal = hidePaths(context.terminal);
  const code = await run({ ...context, terminal, ...outputTo('plain', print, terminal) });
  const [path, ...others] = paths;
  if (path === undefined || others.length > 0) throw notOne(`this command made ${paths.length}`);
  await copyToStdout(path, context);
  return code;
}

/** Hides the path of the result, which is in an internal folder. */
function hidePaths(terminal: Terminal): Terminal {
  const hide = (progress: Progress): Progress => ({
    ...progress,
    end: (key, outcome, text) => progress.end(key, outcome, outcome === 'done' ? 'written to stdout' : text),
  });
  return {
    ...terminal,
    progress: async () => hide(await terminal.progress()),
    board: async (look) => hide(await terminal.board(look)),
  };
}

/** Stops quietly when the reader closes; other errors of stdout are reported by its guard. */
async function copyToStdout(path: string, { io: { stdout }, signal }: Context): Promise<void> {
  for await (const chunk of createReadStream(path)) {
    signal.throwIfAborted();
    if (stdout.destroyed || stdout.errored !== null) return;
    if (stdout.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      const goOn = () => {
        for (const event of EVENTS) stdout.off(event, goOn);
        signal.removeEventListener('abort', goOn);
        resolve();
      };
      for (const event of EVENTS) stdout.on(event, goOn);
      signal.addEventListener('abort', goOn, { once: true });
    });
  }
}

/** Events that end the wait for a slow reader. */
const EVENTS = ['drain', 'close', 'error'] as const;
