/** Turns what goes wrong below into the failures that a job can end with. */
import { isDiskFull } from '../errors/system-error.ts';
import { JobFailure } from '../protocol/job-failure.ts';
import { ChildFailure, ProgramMissing } from './child-failure.ts';

/**
 * The failure to report for any error of media work. What is no failure of an engine or of the disk (a cancelled
 * signal's reason, a fault of our own) comes back as it is.
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
    'the working folder of the service is full or cannot be written; free some room, then try again';
  return new JobFailure('STORAGE_ERROR', message, { cause });
}

function describeEnd(error: ChildFailure): string {
  const how = error.endedBy === null ? `exit code ${error.exitCode}` : `signal ${error.endedBy}`;
  const said = error.lastWords.split('\n').at(-1) ?? '';
  return `${error.program} stopped with ${how}${said === '' ? '' : ` (${withoutPaths(said)})`}`;
}

/** Only the last part of each path: where the service keeps its files is nobody's business. */
function withoutPaths(text: string): string {
  return text.replaceAll(/(?:\/[^\s/:'"]+)+\/([^\s/:'"]+)/g, '$1');
}
