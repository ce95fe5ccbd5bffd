// spec: open — the conditions that lead to `failed` are not specified; a closed set lets a client decide by code.
/** Codes of jobs that ended as `failed`, and whether the same job may succeed if it is submitted again. */
export const JOB_ERROR_CODES = {
  SOURCE_UNREACHABLE: { retryable: true },
  SOURCE_BLOCKED: { retryable: false },
  SOURCE_TOO_LARGE: { retryable: false },
  MEDIA_UNSUPPORTED: { retryable: false },
  MEDIA_CORRUPT: { retryable: false },
  DURATION_EXCEEDED: { retryable: false },
  NO_AUDIO_STREAM: { retryable: false },
  NO_SPEECH_DETECTED: { retryable: false },
  SUBTITLE_INVALID: { retryable: false },
  LANGUAGE_NOT_SUPPORTED: { retryable: false },
  ENGINE_ERROR: { retryable: true },
  DEADLINE_EXCEEDED: { retryable: true },
  STORAGE_ERROR: { retryable: true },
} as const satisfies Record<string, { retryable: boolean }>;

export type JobErrorCode = keyof typeof JOB_ERROR_CODES;

/**
 * A reason to end a job as `failed`. Its message is shown to the caller, so it must not contain a path of the service.
 */
export class JobFailure extends Error {
  override readonly name = 'JobFailure';
  readonly code: JobErrorCode;
  /** Another attempt would fail the same way, whatever is usual for the code: a wrong key, an unknown model. */
  readonly permanent: boolean;

  constructor(code: JobErrorCode, message: string, options: ErrorOptions & { permanent?: boolean } = {}) {
    super(message, options);
    this.code = code;
    this.permanent = options.permanent ?? false;
  }

  get retryable(): boolean {
    return JOB_ERROR_CODES[this.code].retryable;
  }
}
