/** Converts the real process to `Io`. The only file that uses `process`. */
import { writeSync } from 'node:fs';
import { STOP_SIGNALS } from '../base/exit-codes.ts';
import type { Io, Output } from '../commands/context/context.ts';
import { VERSION } from '../commands/context/version.ts';
import { takeEnvironment } from '../profiles/environment.ts';

/** Runs vloc for a process and returns its exit code; all output has left the process by then. */
export async function start(host: NodeJS.Process): Promise<number> {
  silenceExperiments(host);
  // Sent by rotations of logs; Node would open its debugger.
  host.on('SIGUSR1', () => undefined);
  const { io, flush } = ioOf(host);
  const code = await run(host.argv.slice(2), io);
  await flush();
  return code;
}

const VERSION_WORDS: ReadonlySet<string> = new Set(['--version', '-V', 'version']);

async function run(argv: readonly string[], io: Io): Promise<number> {
  // Answered before the parser loads: scripts ask for it often, and it costs nothing.
  if (argv.length === 1 && VERSION_WORDS.has(argv[0] ?? '')) return answer(`${VERSION}\n`, io);
  // Asked by shells at a press of Tab, with a person waiting: it needs no parser either.
  if (argv[0] === 'completion' && argv[1] === 'complete') {
    const { completeWords } = await import('./complete.ts');
    const { loadTable } = await import('./completion-table.ts');
    return answer(await completeWords(await loadTable(), argv.slice(argv[2] === '--' ? 3 : 2), io), io);
  }
  const { main } = await import('./main.ts');
  const code = await main(argv, io);
  // Only on a terminal, so that scripts pay nothing for it.
  if (code === 0 && io.stdout.isTTY === true) {
    const { isWelcome, noticeUpdate } = await import('./update-notice.ts');
    if (isWelcome(argv, io)) noticeUpdate(io);
  }
  return code;
}

/** Writes the whole answer; the code that reports a failed write is loaded only when needed. */
async function answer(text: string, io: Io): Promise<number> {
  io.stdout.on('error', () => undefined);
  const error = await new Promise<Error | null | undefined>((resolve) => io.stdout.write(text, resolve));
  if (error === null || error === undefined) return 0;
  const { endUnwritten } = await import('./stdout-fault.ts');
  return endUnwritten(error, io);
}

/**
 * Keeps the space for new objects at its first size. Under load V8 lets it grow by about 40 MiB and returns nothing of it,
 * although a server of small requests has few live objects. Nor may garbage grow beyond half of what is live: with much memory V8 waits
 * until it is three times as large, and a batch of 10,000 jobs takes 350 MiB instead of 185. The flags for sizes only work
 * on Node's command line.
 */
function keepHeapSmall(host: NodeJS.Process): void {
  const { setFlagsFromString } = host.getBuiltinModule('node:v8');
  for (const flag of ['--semi-space-growth-factor=1', '--heap-growing-percent=50']) setFlagsFromString(flag);
}

/** Node 22 warns at every use of node:sqlite that it may change; users of vloc can do nothing about it. */
function silenceExperiments(host: NodeJS.Process): void {
  const printers = host.listeners('warning');
  host.removeAllListeners('warning');
  host.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') for (const print of printers) print(warning);
  });
}

/** Node's stream for a file reports a partial write to a full disk as complete. */
function wholeWrites(stream: NodeJS.WriteStream & { readonly fd: number }): Output {
  if (stream.constructor.name !== 'SyncWriteStream') return stream;
  stream._write = (chunk: Buffer, _encoding, done) => {
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(stream.fd, chunk, at);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    done();
  };
  return stream;
}

function ioOf(host: NodeJS.Process): { readonly io: Io; flush(): Promise<void> } {
  let stdout: Output | null = null;
  let stderr: Output | null = null;
  const io: Io = {
    // Getters: Node makes each stream at its first use, and most runs use one of the three.
    get stdin() {
      return host.stdin;
    },
    get stdout() {
      stdout ??= wholeWrites(host.stdout);
      return stdout;
    },
    get stderr() {
      // A failed write to stderr cannot be reported, and must not end paid work.
      stderr ??= host.stderr.on('error', () => undefined);
      return stderr;
    },
    // The secrets leave the process: neither a crash report nor a child has them.
    env: takeEnvironment(host.env),
    // A getter, because it throws in a folder that was deleted, where some commands still work.
    get cwd() {
      return host.cwd();
    },
    platform: host.platform,
    now: Date.now,
    onSignal: (listener) => {
      for (const name of STOP_SIGNALS) host.on(name, listener);
      return () => {
        for (const name of STOP_SIGNALS) host.off(name, listener);
      };
    },
    abandon: (code) => host.exit(code),
    keepHeapSmall: () => keepHeapSmall(host),
  };
  const flush = async () => {
    for (const stream of [stdout, stderr]) {
      if (stream === null || stream.writableLength === 0) continue;
      // Resolves once all earlier output was written or the stream failed.
      await new Promise<void>((resolve) => stream.write('', () => resolve()));
    }
  };
  return { io, flush };
}
