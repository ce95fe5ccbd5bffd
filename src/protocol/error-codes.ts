/**
 * All errors that the service answers with: status, whether a retry can help, and what to do. Source: specification,
 * "Errors"; rows marked open are for statuses that it does not name.
 */
export const ERROR_CODES = {
  INVALID_REQUEST: {
    status: 400,
    retryable: false,
    title: 'The request is not valid',
    advice: 'Correct the fields named in `errors`, then send it again.',
  },
  AUTHENTICATION_FAILED: {
    status: 401,
    retryable: false,
    title: 'The request could not be authenticated',
    advice: 'Check the key, the secret and the clock of this machine: `vloc doctor` tests all three.',
  },
  INSUFFICIENT_CREDITS: {
    status: 402,
    retryable: false,
    title: 'The balance does not cover this job',
    advice: 'Add credits, then run the same command again.',
  },
  API_ACCESS_NOT_INCLUDED_IN_PLAN: {
    status: 403,
    retryable: false,
    title: 'The plan does not include the interface',
    advice: "Ask the workspace owner to renew the owner's enterprise plan.",
  },
  SOURCE_IP_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    title: 'This address is not on the allow-list of the key',
    advice: 'Call from an allowed address, or add this one to the allow-list of the key.',
  },
  // spec: open
  CAPABILITY_NOT_PERMITTED: {
    status: 403,
    retryable: false,
    title: 'The key lacks the permission for this capability',
    advice: 'Use a key with that permission, or have it added to this one.',
  },
  // spec: open — the same answer for an unknown id, another key's record and an unknown path, so that ids cannot be
  // guessed
  RESOURCE_NOT_FOUND: {
    status: 404,
    retryable: false,
    title: 'The resource was not found',
    advice:
      'Check the id and the profile; records are kept for 7 days and seen only by the key that made them.',
  },
  // spec: open
  METHOD_NOT_ALLOWED: {
    status: 405,
    retryable: false,
    title: 'The method is not allowed for this path',
    advice: 'Use one of the methods named in the Allow header.',
  },
  // spec: open
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    retryable: false,
    title: 'The body is not plain JSON',
    advice: 'Send Content-Type: application/json, without a Content-Encoding.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    retryable: false,
    title: 'The Idempotency-Key was used for another request',
    advice: 'Send a new intent with a new key; send the old request again only unchanged.',
  },
  // spec: open
  JOB_NOT_CANCELLABLE: {
    status: 409,
    retryable: false,
    title: 'The job has already ended',
    advice: 'The job has finished and can no longer be cancelled.',
  },
  // spec: open
  UPLOAD_STATE_CONFLICT: {
    status: 409,
    retryable: false,
    title: 'The upload is not in a state to be completed',
    advice: 'Send the bytes first; an expired or failed upload is replaced by a new one.',
  },
  // spec: open
  UPLOAD_ETAG_MISMATCH: {
    status: 409,
    retryable: false,
    title: 'The ETag does not match the stored object',
    advice: 'Upload the file again and complete it with the ETag of the answer.',
  },
  // spec: open
  CONTENT_TOO_LARGE: {
    status: 413,
    retryable: false,
    title: 'The content is too large',
    advice: 'Videos are under 1 GiB, subtitle files under 10 MiB.',
  },
  // spec: open
  INPUT_NOT_USABLE: {
    status: 422,
    retryable: false,
    title: 'The input cannot be used',
    advice: 'Use an upload that is ready and of the right purpose, or a public https address.',
  },
  // spec: open
  MEDIA_VALIDATION_FAILED: {
    status: 422,
    retryable: false,
    title: 'The video cannot be used',
    advice: 'Send an MP4, MOV, AVI, MPEG, MPG or M4V of at most 15 minutes with picture and sound.',
  },
  // spec: open
  SUBTITLE_VALIDATION_FAILED: {
    status: 422,
    retryable: false,
    title: 'The subtitles cannot be used',
    advice: 'Send UTF-8 SRT, or at most 10,000 structured lines.',
  },
  // spec: open
  LANGUAGE_NOT_SUPPORTED: {
    status: 422,
    retryable: false,
    title: 'The language is not supported here',
    advice:
      'Choose one of the languages that the detail lists, or install what it names; `vloc engines list` where the service runs shows all.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    retryable: true,
    title: 'Too many requests',
    advice: 'Try again later.',
  },
  CONCURRENCY_LIMIT_EXCEEDED: {
    status: 429,
    retryable: true,
    title: 'All slots of the workspace are taken',
    advice: 'Wait for running jobs to finish; a workspace runs 15 at a time.',
  },
  CREDIT_QUOTA_EXCEEDED: {
    status: 429,
    retryable: false,
    title: 'The monthly credit quota of the key is used up',
    advice: 'Wait for the next calendar month (Asia/Shanghai), or have the quota of the key raised.',
  },
  // spec: open
  INTERNAL_ERROR: {
    status: 500,
    retryable: true,
    title: 'The service failed',
    advice: 'Try again; if it fails again, report the request id.',
  },
  SERVICE_TEMPORARILY_UNAVAILABLE: {
    status: 503,
    retryable: true,
    title: 'The service is not available right now',
    advice: 'Try again later.',
  },
} as const satisfies Record<string, { status: number; retryable: boolean; title: string; advice: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Returns true for a code that this version knows. A hosted service may send others. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
