/** Failures of child processes, and the job failures that result from them. */
import { isDiskFull } from '../../base/system-error.ts';
import { JobFailure } from '../../protocol/job-failure.ts';

/** The program is not installed. `program` is its name on the command line. */
export class ProgramMissing extends Error {
  override readonly name = 'ProgramMissing';
  readonly program: string;

  constructor(program: string) {
    super(`${program} is not installed`);
    this.program = program;
  }
}

/** The program ran and failed, or was stopped by one of its limits. */
export class ChildFailure extends Error {
  override readonly name = 'ChildFailure';
  readonly program: string;
  /** Exit code; null if a signal ended the program. */
  readonly exitCode: number | null;
  readonly endedBy: string | null;
  /** The end of its stderr output. Untrusted: it quotes names and tags of the media. */
  readonly lastWords: string;

  constructor(program: string, end: { exitCode: number | null; endedBy: string | null; lastWords: string }) {
    const how = end.endedBy === null ? `exit code ${end.exitCode}` : `signal ${end.endedBy}`;
    super(`${program} ended with ${how}${end.lastWords === '' ? '' : `: ${end.lastWords}`}`);
    this.program = program;
    this.exitCode = end.exitCode;
    this.endedBy = end.endedBy;
    this.lastWords = end.lastWords;
  }
}

/**
 * Returns the failure to report for an error of media work. Other errors (the reason of an aborted signal, an internal
 * error) are returned unchanged.
 */
export function asJobFailure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof JobFailure) return error;
  if (error instanceof ProgramMissing) {
    const message = `${error.program} is not installed where the service runs; install it with: vloc engines install`;
    return new JobFailure('ENGINE_ERROR', message, { cause: error });
  }
  if (error instanceof ChildFailure) {
    if (/no space left|disk quota/i.test(error.lastWords)) return storageFailure(error);
    return new JobFailure('ENGINE_ERROR', describeEnd(error), { cause: error });
  }
  if (error instanceof Error && isDiskFull(error)) return storageFailure(error);
  return error;
}

function storageFailure(cause: Error): JobFailure {
  const message =
    'the working folder of the service is full or cannot be written; free some space, then try again';
  return new JobFailure('STORAGE_ERROR', message, { cause });
}

function describeEnd(error: ChildFailure): string {
  const how = error.endedBy === null ? `exit code ${error.exitCode}` : `signal ${error.endedBy}`;
  const said = error.lastWords.split('\n').at(-1) ?? '';
  return `${error.program} stopped with ${how}${said === '' ? '' : ` (${withoutPaths(said)})`}`;
}

/** Keeps only the last part of each path, to hide where the service stores its files. */
export function withoutPaths(text: string): string {
  return text.replaceAll(/(?:\/[^\s/:'"]+)+\/([^\s/:'"]+)/g, '$1');
}
