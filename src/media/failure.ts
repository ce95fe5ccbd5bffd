/** The reasons why a file cannot be prepared: local faults, found before anything is sent or charged. */

import { isDiskFull } from '../base/system-error.ts';
import { TOO_MANY_ERRORS } from './probe/inspect.ts';
import { ChildFailure, ProgramMissing } from './programs/failures.ts';

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
  /** What to do next: one sentence or a command. */
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
export async function explaining<T>(doing: string, action: () => Promise<T>): Promise<T> {
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
    if (cause.exitCode === TOO_MANY_ERRORS) return damage(doing, cause);
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
function damage(doing: string, cause: ChildFailure): PreparationFailure {
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
