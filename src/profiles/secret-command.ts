/** Secrets out of a command, such as a password manager: its stdout is the secret. */
import { configurationFailure, type Failure } from '../base/failure.ts';
import type { ProgramResult } from '../media/programs/start.ts';
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
  const { env, signal, limitMs = LIMIT_MS } = run;
  signal?.throwIfAborted();
  // Loaded here: few profiles have a command, and every run would pay for it.
  const { endWithLeader, startProgram } = await import('../media/programs/start.ts');
  const [program, ...rest] = splitCommand(command) ?? [];
  // Not in a group of its own, which would have no terminal for its questions: stdin may be the data of this run.
  const child = startProgram(program ?? command, rest, {
    shell: program === undefined,
    env: withoutSecrets(env),
    stdin: 'ignore',
    timeout: limitMs,
    killSignal: 'SIGKILL',
    maxBuffer: LARGEST_BYTES,
    stripFinalNewline: false,
    ...(signal === undefined ? {} : { cancelSignal: signal }),
  });
  endWithLeader(child);
  const result = await child;
  signal?.throwIfAborted();
  const { stdout, stderr } = result;
  if (result.failed) {
    const [line = ''] = stderr.split('\n', 1);
    throw secretCommandFailure(
      command,
      `${describeEnd(result, limitMs)}${line.trim() === '' ? '' : `: ${line.trim().slice(0, 200)}`}`,
    );
  }
  const secret = cleanSecret(stdout);
  if (secret !== null) return secret;
  throw secretCommandFailure(
    command,
    stdout.trim() === '' ? 'printed nothing' : 'printed more than one line of text',
  );
}

type End = Pick<ProgramResult, 'timedOut' | 'isMaxBuffer' | 'signal' | 'exitCode' | 'originalMessage'>;

function describeEnd(end: End, limitMs: number): string {
  if (end.timedOut) return `did not end in ${limitMs / 1000} s`;
  if (end.isMaxBuffer) return 'printed too much';
  if (end.signal !== undefined) return `ended with signal ${end.signal}`;
  return end.exitCode === undefined
    ? `cannot be started (${end.originalMessage})`
    : `ended with exit code ${end.exitCode}`;
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
