/** The limits of the service. Source: specification, "Limits", except those marked open. */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const LIMITS = {
  concurrentTasks: 15,
  timestampSkewSeconds: 300,
  /**
   * A timestamp may differ by 300 s in either direction, so a nonce is remembered for the whole 600 s plus the second
   * in which they end.
   */
  nonceMemorySeconds: 601,
  nonceLength: { min: 16, max: 128 }, // spec: open — 16 base64url characters contain 96 bits; longer ones waste space
  pageSize: { default: 20, min: 1, max: 50 },
  cursorLength: 1024,
  idempotencyKeyLength: 255,
  clientRequestIdLength: 128,
  clientReferenceLength: 128,
  fileNameLength: 255, // spec: open — the longest name in common file systems
  videoSeconds: 15 * 60,
  /** Exclusive: a video of this many bytes is refused. */
  videoBytes: 1024 ** 3,
  subtitleLines: 10_000,
  /** Exclusive: a subtitle file of this many bytes is refused. */
  subtitleBytes: 10 * 1024 ** 2,
  /** spec: open — 10,000 structured lines of two long rows each, as JSON, with a margin. */
  jsonBytes: 12 * 1024 ** 2,
  /**
   * Longest text of one subtitle line, structured or SRT; spec: open — prevents one cue from containing a whole book.
   */
  lineCharacters: 5_000,
  /** Latest end of a structured line; spec: open — the latest time that SRT can express with three digits of hours. */
  lineEndMs: 1000 * HOUR_MS - 1,
  retentionMs: 7 * DAY_MS,
  resultLinkMs: 24 * HOUR_MS,
  uploadLinkMs: HOUR_MS, // spec: open — long enough for 1 GiB at 2.4 Mbit/s
  webhookTimeoutMs: 5_000,
} as const;

/** Container formats of a source video, by file name extension. Source: specification, "video formats". */
export const VIDEO_EXTENSIONS = ['.mp4', '.mov', '.avi', '.mpeg', '.mpg', '.m4v'] as const;
