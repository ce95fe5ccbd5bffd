/** Failures of child processes, and the job failures that result from them. */
import { isDiskFull } from '../../base/system-error.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { TOO_MANY_ERRORS } from './arguments.ts';

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
    const code = isOfMedia(error) ? 'MEDIA_UNSUPPORTED' : 'ENGINE_ERROR';
    return new JobFailure(code, describeEnd(error), { cause: error });
  }
  if (error instanceof Error && isDiskFull(error)) return storageFailure(error);
  return error;
}

/** How ffmpeg, its encoders and the system report a lack that may be over at the next attempt. */
const SHORTAGE = /malloc of size \d+ failed|cannot allocate memory|resource temporarily unavailable/i;

/** Whether ffmpeg gave up a file by itself, as it would at each attempt. */
function isOfMedia({ program, exitCode, lastWords }: ChildFailure): boolean {
  return ['ffmpeg', 'ffprobe'].includes(program) && exitCode !== null && !SHORTAGE.test(lastWords);
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

export type PreparationCode =
  | 'MEDIA_UNSUPPORTED'
  | 'MEDIA_CORRUPT'
  | 'NO_AUDIO_STREAM'
  | 'NO_SUCH_TRACK'
  | 'VARIABLE_FRAME_RATE'
  | 'PART_TOO_LARGE'
  | 'JOIN_NOT_EXACT'
  | 'SUBTITLE_INVALID'
  | 'PROGRAM_MISSING'
  | 'PROGRAM_FAILED'
  | 'DISK_FULL';

export class PreparationFailure extends Error {
  override readonly name = 'PreparationFailure';
  readonly code: PreparationCode;
  /** One thing to do next: a sentence or a command. */
  readonly advice: string;

  constructor(code: PreparationCode, message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.advice = advice;
  }
}

/**
 * Runs media work. Throws faults of a program or of the disk as `PreparationFailure`, and any other error unchanged.
 * @param doing what was being done, for the message: `the video cannot be cut: …`
 */
export async function explainFailures<T>(doing: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw explain(doing, error);
  }
}

function explain(doing: string, cause: unknown): unknown {
  if (cause instanceof ProgramMissing) {
    return new PreparationFailure('PROGRAM_MISSING', `${doing}: ${cause.message}`, 'vloc engines install', {
      cause,
    });
  }
  if (cause instanceof ChildFailure) {
    if (/no space left|disk quota/i.test(cause.lastWords)) return fileSystemFailure(doing, cause);
    if (cause.exitCode === TOO_MANY_ERRORS) return damagedFileFailure(doing, cause);
    const said = cause.lastWords.split('\n').at(-1) || cause.message;
    const advice = 'play the file to see whether it is complete; export it again if it is not';
    return new PreparationFailure('PROGRAM_FAILED', `${doing}: ${cause.program} says: ${said}`, advice, {
      cause,
    });
  }
  if (cause instanceof Error && isDiskFull(cause)) return fileSystemFailure(doing, cause);
  return cause;
}

/** Damage must be reported now: it is no longer visible after re-encoding. */
function damagedFileFailure(doing: string, cause: ChildFailure): PreparationFailure {
  const message = `${doing}: more than one frame in fifty cannot be decoded: the file is damaged`;
  return new PreparationFailure('MEDIA_CORRUPT', message, 'copy, download or export it again', { cause });
}

function fileSystemFailure(doing: string, cause: Error): PreparationFailure {
  const advice =
    'free some space, or set TMPDIR to a folder with more: cutting and joining need about four times the video';
  return new PreparationFailure('DISK_FULL', `${doing}: the disk is full or cannot be written`, advice, {
    cause,
  });
}
