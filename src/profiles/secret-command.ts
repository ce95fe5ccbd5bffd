/** Secrets out of a command, such as a password manager: its stdout is the secret. */
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { configurationFailure, type Failure } from '../base/failure.ts';
import { type Environment, withoutSecrets } from './environment.ts';

/** Enough for a password manager that asks for a finger or a password. */
const LIMIT_MS = 30_000;
/** A secret is a line; more than this is the wrong command. */
const LARGEST_BYTES = 64 * 1024;
/** Anything that only a shell understands, an assignment before the program included. */
const NEEDS_SHELL = /[|&;<>()$`\\*?[\]~#!{}\n]|^\s*\w+=/;

/** The words of a command without shell expansion, quotes removed; null when only a shell can read it. */
export function splitCommand(command: string): readonly string[] | null {
  if (NEEDS_SHELL.test(command)) return null;
  // The shell reports an unmatched quote.
  if (/["']/.test(command.replace(/"[^"]*"|'[^']*'/g, ''))) return null;
  const words = command.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

interface CommandRun {
  readonly env: Environment;
  readonly signal?: AbortSignal;
  /** Milliseconds; default 30 seconds. */
  readonly limitMs?: number;
}

/**
 * Runs the command, without a shell if it needs none, and returns its output without the last line break.
 * @throws Failure (`configuration`) with the exit code and the first line of stderr; the signal's reason
 */
export async function runSecretCommand(command: string, run: CommandRun): Promise<string> {
  run.signal?.throwIfAborted();
  const { stdout, stderr, end } = await collect(start(command, run.env), run);
  run.signal?.throwIfAborted();
  if (end !== null) {
    const [line = ''] = stderr.split('\n', 1);
    throw secretCommandFailure(
      command,
      `${end}${line.trim() === '' ? '' : `: ${line.trim().slice(0, 200)}`}`,
    );
  }
  const secret = cleanSecret(stdout);
  if (secret !== null) return secret;
  throw secretCommandFailure(
    command,
    stdout.trim() === '' ? 'printed nothing' : 'printed more than one line of text',
  );
}

function start(command: string, variables: Environment): ChildProcess {
  // Its questions, if any, go to the terminal itself: stdin may be the data of this run.
  const options: SpawnOptions = {
    env: withoutSecrets(variables),
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  };
  // Loaded here: few profiles have a command, and every run would pay for it.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const [program, ...rest] = splitCommand(command) ?? [];
  return program === undefined ? spawn(command, { ...options, shell: true }) : spawn(program, rest, options);
}

interface Collected {
  readonly stdout: string;
  readonly stderr: string;
  /** How it ended, null for well. */
  readonly end: string | null;
}

function collect(child: ChildProcess, { signal, limitMs = LIMIT_MS }: CommandRun): Promise<Collected> {
  const parts = { stdout: '', stderr: '' };
  return new Promise((resolve) => {
    const finish = (end: string | null) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      // Processes started by the command may still hold the pipes open.
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ ...parts, end });
    };
    const stop = (end: string) => {
      child.kill('SIGKILL');
      finish(end);
    };
    const cancel = () => stop('was cancelled');
    const timer = setTimeout(() => stop(`did not end in ${limitMs / 1000} s`), limitMs);
    signal?.addEventListener('abort', cancel, { once: true });
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (part: string) => {
        parts[name] += part;
        if (parts[name].length > LARGEST_BYTES) stop('printed too much');
      });
    }
    child.on('error', (error) => finish(`cannot be started (${error.message})`));
    child.on('close', (code, endedBy) => {
      finish(code === 0 ? null : `ended with ${code === null ? `signal ${endedBy}` : `exit code ${code}`}`);
    });
  });
}

/** The secret without the line break at its end; null when it is empty, or has a control character or a space around it. */
export function cleanSecret(text: string): string | null {
  const secret = text.replace(/\r?\n$/, '');
  return secret === '' || /^\s|\s$/.test(secret) || /\p{Cc}/u.test(secret) ? null : secret;
}

function secretCommandFailure(command: string, what: string): Failure {
  const [program = command] = command.trim().split(/\s/, 1);
  return configurationFailure(
    'SECRET_COMMAND_FAILED',
    `the command for the secret (${program} …) ${what}`,
    'Run that command by hand; `vloc profile add NAME --replace` stores another.',
  );
}
