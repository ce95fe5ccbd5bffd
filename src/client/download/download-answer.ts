/** What an answer to a download means: pure, so that each case can be tested. */
import { Failure, type FailureFacts } from '../failure.ts';
import { adviseOnAnswer, type RetryAdvice } from '../transport/retry.ts';
import { retryAfterOf } from '../transport/retry-after.ts';

export type DownloadAnswer =
  /** The body goes on where the part ends, or begins at its beginning; `total` is the length of the whole file. */
  | { readonly type: 'body'; readonly from: number; readonly total: number | null }
  /** The address is refused: the job is read once more for another. */
  | { readonly type: 'link-refused'; readonly status: number }
  /** The part does not fit what is stored: begin anew. */
  | { readonly type: 'misfit' }
  | { readonly type: 'failed'; readonly failure: Failure; readonly advice: RetryAdvice };

export interface Wanted {
  /** Bytes in the part, asked for with Range unless 0. */
  readonly offset: number;
  /** What the job says about the file, null when it says nothing. */
  readonly size: number | null;
  /** True when the bytes can be checked by their hash. */
  readonly hashed: boolean;
}

const REFUSED_LINK: ReadonlySet<number> = new Set([401, 403, 404, 410]);

export function readDownloadAnswer(
  answer: { status: number; headers: Readonly<Record<string, string>> },
  wanted: Wanted,
  now: number,
): DownloadAnswer {
  const { status, headers } = answer;
  if (REFUSED_LINK.has(status)) return { type: 'link-refused', status };
  if (status === 416 && wanted.offset > 0) return { type: 'misfit' };
  if (status !== 200 && status !== 206) return refusedStatus(status, headers, now);
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') return encoded(status);
  const length = wholeNumber(headers['content-length']);
  const span = status === 206 ? parseContentRange(headers['content-range']) : { from: 0, total: length };
  if (span === null || (status === 206 && span.from !== wanted.offset)) return { type: 'misfit' };
  const total = span.total ?? (length === null ? null : span.from + length);
  if (wanted.size !== null && total !== null && total !== wanted.size) return wrongSize(wanted.size, total);
  if (wanted.size === null && total === null && !wanted.hashed) return unverifiable();
  return { type: 'body', from: span.from, total: wanted.size ?? total };
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** `bytes 100-199/200`, or `*` for a length that is not known. */
function parseContentRange(value: string | undefined): { from: number; total: number | null } | null {
  const match = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/i.exec(value ?? '');
  if (match === null) return null;
  return { from: Number(match[1]), total: wholeNumber(match[2]) };
}

function failed(facts: FailureFacts, advice: RetryAdvice): DownloadAnswer {
  return { type: 'failed', failure: new Failure(facts), advice };
}

function refusedStatus(
  status: number,
  headers: Readonly<Record<string, string>>,
  now: number,
): DownloadAnswer {
  const askedMs = retryAfterOf(headers, now);
  const advice = adviseOnAnswer({ status, code: null, retryable: null, askedMs });
  const passing = advice.type !== 'never';
  const facts: FailureFacts = {
    category: passing ? 'temporary' : 'refused',
    code: 'DOWNLOAD_REFUSED',
    message: `the result was not handed out (status ${status})`,
    advice: passing ? 'Run the same command again later.' : 'Report it to whoever runs the service.',
    status,
    retryable: passing,
    ...(askedMs === null ? {} : { retryAfterMs: askedMs }),
  };
  return failed(facts, advice);
}

function encoded(status: number): DownloadAnswer {
  const facts: FailureFacts = {
    category: 'configuration',
    code: 'DOWNLOAD_ENCODED',
    message: 'the result came compressed though that was not asked for, so its length cannot be checked',
    advice: 'Look for a proxy between here and the service that compresses answers.',
    status,
  };
  return failed(facts, { type: 'never' });
}

/** Most often a login page or an error page that pretends to be the file, and gone a moment later. */
function wrongSize(size: number, total: number): DownloadAnswer {
  const facts: FailureFacts = {
    category: 'temporary',
    code: 'DOWNLOAD_DAMAGED',
    message: `the result should have ${size} bytes and the address hands out ${total}`,
    advice: 'Run the same command again; if it stays, report the id of the job.',
    retryable: true,
  };
  return failed(facts, { type: 'backoff', cause: 'fault', askedMs: null });
}

function unverifiable(): DownloadAnswer {
  const facts: FailureFacts = {
    category: 'refused',
    code: 'DOWNLOAD_UNVERIFIABLE',
    message: 'neither the job nor the answer tells how long the result is, so a cut would go unseen',
    advice: 'Report it to whoever runs the service.',
  };
  return failed(facts, { type: 'never' });
}
