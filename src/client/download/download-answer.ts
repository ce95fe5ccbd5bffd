/** Meaning of an answer to a download: pure, so that each case can be tested. */
import { describeDuration, formatBytes } from '../../base/amounts.ts';
import {
  diskFailure,
  expiredFailure,
  Failure,
  type FailureFacts,
  refusedFailure,
  temporaryFailure,
} from '../../base/failure.ts';
import { allowsFormat, type ResultFormat } from '../../protocol/result-formats.ts';
import type { RetryAdvice } from '../transport/retry.ts';
import {
  describeStorageError,
  readStorageRefusal,
  type StorageAnswer,
  type StorageRefusal,
} from '../transport/storage-refusal.ts';

type DownloadAnswer =
  /** The body continues where the part ends, or begins at its beginning; `total` is the length of the whole file. */
  | { readonly type: 'body'; readonly from: number; readonly total: number | null }
  /** The address is refused: the job is read once more for another. */
  | { readonly type: 'link-refused'; readonly refusal: StorageRefusal }
  /** The part does not match the stored file: start over. */
  | { readonly type: 'misfit'; readonly why: PartMismatch }
  | { readonly type: 'failed'; readonly failure: Failure; readonly advice: RetryAdvice };

/** The file changed, or the range is not the requested one. */
type PartMismatch = 'changed' | 'range';

interface ExpectedFile {
  /** Host that is asked. */
  readonly host: string;
  /** Bytes in the part, requested with Range unless 0. */
  readonly offset: number;
  /** ETag or date of the version that the part was begun with. */
  readonly validator: Validator | null;
  /** Length of the file in bytes, as the job states it; null when it states none. */
  readonly size: number | null;
  /** The length of the whole file by the answer that the part was begun with. */
  readonly earlierTotal: number | null;
  /** True when the bytes can be checked by their hash. */
  readonly hashed: boolean;
  /** Null when the caller does not know. */
  readonly format: ResultFormat | null;
}

/** Whether the body may be the file; a page that has the right hash is one. */
export function mayBeFile(
  { status, headers }: Pick<StorageAnswer, 'status' | 'headers'>,
  hashed: boolean,
): boolean {
  return (status === 200 || status === 206) && (hashed || !isPage(headers['content-type']));
}

function isPage(type: string | undefined): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type ?? '');
}

export function readDownloadAnswer(answer: StorageAnswer, wanted: ExpectedFile, now: number): DownloadAnswer {
  const { status, headers, page } = answer;
  if (status === 416 && wanted.offset > 0) return { type: 'misfit', why: 'range' };
  if (status !== 200 && status !== 206) return refused(answer, now);
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') return encoded(status);
  const length = wholeNumber(headers['content-length']);
  const span = status === 206 ? parseContentRange(headers, length) : { from: 0, total: length };
  if (span === null || (status === 206 && span.from !== wanted.offset)) {
    return { type: 'misfit', why: 'range' };
  }
  if (span.from > 0 && isOtherVersion(headers, span.total, wanted)) return { type: 'misfit', why: 'changed' };
  const { total } = span;
  if (wanted.size !== null && total !== null && total !== wanted.size) return wrongSize(wanted.size, total);
  if (!wanted.hashed) {
    const wrong = wrongContent(headers, total, wanted);
    if (wrong !== null) return again(notResultFailure(wrong, describeStorageError(page)));
  }
  // A response that ends with its connection looks the same when it is truncated.
  const isFramed = length !== null || /\bchunked\b/i.test(headers['transfer-encoding'] ?? '');
  if (wanted.size === null && total === null && !isFramed && !wanted.hashed) return unverifiable(wanted.host);
  return { type: 'body', from: span.from, total: wanted.size ?? total };
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** `bytes 100-199/200`, or `*` for a length that is not known; null unless it agrees with itself and with the body. */
function parseContentRange(
  headers: StorageAnswer['headers'],
  length: number | null,
): { from: number; total: number | null } | null {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(headers['content-range'] ?? '');
  if (match === null) return null;
  const [from, last, total] = [Number(match[1]), Number(match[2]), wholeNumber(match[3])];
  const isRight = from <= last && (total === null || last < total);
  const fits = length === null || length === last - from + 1;
  return isRight && fits ? { from, total } : null;
}

/** Storage that does not know If-Range sends the rest of whatever it has now. */
function isOtherVersion(
  headers: StorageAnswer['headers'],
  total: number | null,
  { validator, earlierTotal, hashed }: ExpectedFile,
): boolean {
  if (total !== null && earlierTotal !== null && total !== earlierTotal) return true;
  if (validator === null) return !hashed;
  return !(isSameVersion(validator, headers) ?? hashed);
}

/** Words for an answer that is not the result; null if it may be the result. */
function wrongContent(
  headers: StorageAnswer['headers'],
  total: number | null,
  { host, size, format }: ExpectedFile,
): string | null {
  const type = headers['content-type'];
  const expected = format === null ? 'the result' : `the ${format.name}`;
  if (isPage(type)) return `${host} answers with a web page instead of ${expected}`;
  if (total === 0 && size !== 0) return `${host} answers with an empty body instead of ${expected}`;
  if (format === null || allowsFormat(type, format)) return null;
  return `${host} answers with ${type} instead of ${expected}`;
}

function failed(facts: FailureFacts, advice: RetryAdvice): DownloadAnswer {
  return { type: 'failed', failure: new Failure(facts), advice };
}

/** It may be gone a moment later. */
function again(failure: Failure): DownloadAnswer {
  return { type: 'failed', failure, advice: { type: 'backoff', cause: 'fault', askedMs: null } };
}

function refused(answer: StorageAnswer, now: number): DownloadAnswer {
  const refusal = readStorageRefusal(answer, now);
  if (refusal.verdict.renew) return { type: 'link-refused', refusal };
  const { facts, gateway, said, advice } = refusal;
  const own: FailureFacts = {
    ...facts,
    code: 'DOWNLOAD_REFUSED',
    message: `storage did not return the result (${said})`,
    advice: facts.retryable
      ? 'Run the same command again later.'
      : 'Report it to the operator of the service.',
  };
  return failed(gateway ?? own, advice);
}

function encoded(status: number): DownloadAnswer {
  const facts: FailureFacts = {
    category: 'configuration',
    code: 'DOWNLOAD_ENCODED',
    message: 'the result arrived compressed although that was not requested, so its length cannot be checked',
    advice: 'Look for a proxy between here and the service that compresses answers.',
    status,
  };
  return failed(facts, { type: 'never' });
}

/** Most often a login page or an error page that pretends to be the file. */
function wrongSize(size: number, total: number): DownloadAnswer {
  return again(
    temporaryFailure(
      'DOWNLOAD_DAMAGED',
      `the result should have ${size} bytes and the address returns ${total}`,
      'Run the same command again; if it fails again, report the id of the job.',
      { retryable: true },
    ),
  );
}

function unverifiable(host: string): DownloadAnswer {
  const facts: FailureFacts = {
    category: 'refused',
    code: 'DOWNLOAD_UNVERIFIABLE',
    message: `${host} does not state the length of the result, so a truncated file would go unnoticed`,
    advice:
      'If a proxy is between here and the service, download without it; else report it to the operator of the service.',
  };
  return failed(facts, { type: 'never' });
}

/** Distinguishes versions of a stored file. Source: RFC 9110, 8.8 and 13.1.5. */
export interface Validator {
  readonly header: 'etag' | 'last-modified';
  readonly value: string;
}

type Headers = Readonly<Record<string, string>>;

/** A file may change twice within one second, the resolution of a date. Source: RFC 9110, 8.8.2.2. */
const DATE_STEP_MS = 1000;

/** The validator of an answer that may be used with Range; null without one. Weak ETags (`W/`) may not. */
export function readValidator({ etag, 'last-modified': modified, date }: Headers): Validator | null {
  if (etag !== undefined) return /^"[^"]*"$/.test(etag) ? { header: 'etag', value: etag } : null;
  if (modified === undefined) return null;
  const ageMs = Date.parse(date ?? '') - Date.parse(modified);
  return ageMs >= DATE_STEP_MS ? { header: 'last-modified', value: modified } : null;
}

/** Whether the answer is of the same version; null when it does not say. */
function isSameVersion({ header, value }: Validator, headers: Headers): boolean | null {
  const reported = headers[header];
  return reported === undefined ? null : reported === value;
}

const AGAIN_OR_REPORT = 'Run the same command again; if it fails again, report the id of the job.';

export function addressRefusedFailure(): Failure {
  return refusedFailure(
    'DOWNLOAD_ADDRESS_REFUSED',
    'the download address that the service returned is not https',
    'Nothing was downloaded: report it to the operator of the service.',
  );
}

export function damagedDownloadFailure(name: string): Failure {
  return temporaryFailure(
    'DOWNLOAD_DAMAGED',
    `the downloaded ${name} has the wrong size or checksum`,
    AGAIN_OR_REPORT,
    { retryable: true },
  );
}

export function rangeMismatchFailure(name: string, why: 'changed' | 'range'): Failure {
  return temporaryFailure(
    'DOWNLOAD_RANGE_MISFIT',
    why === 'changed'
      ? `${name} changed at the service during the download`
      : `storage did not return the part of ${name} that was requested`,
    'Run the same command again.',
    { retryable: true },
  );
}

/** @param what came instead  @param said the words of the page, empty without any */
export function notResultFailure(what: string, said = ''): Failure {
  return temporaryFailure(
    'DOWNLOAD_NOT_THE_RESULT',
    said === '' ? what : `${what}: ${said}`,
    'Often this is the login page of a network or a proxy: sign in there or avoid it, then run the same command again.',
    { origin: 'gateway', blame: 'gateway', retryable: true },
  );
}

/** @param needed bytes that are still missing  @param free bytes that the disk has for them */
export function noRoomFailure(name: string, folder: string, needed: number | null, free: number): Failure {
  const takes = needed === null ? `more than ${formatBytes(free)}` : formatBytes(needed);
  return diskFailure(
    'DISK_FULL',
    `${name} needs ${takes} more, and ${folder} has ${formatBytes(free)} free`,
    'Free some space or choose another folder with --out, then run the same command again.',
    { retryable: false },
  );
}

export function slowDownloadFailure(host: string, bytes: number, ms: number, least: number): Failure {
  const time = describeDuration(ms);
  return temporaryFailure(
    'DOWNLOAD_TOO_SLOW',
    `${host} sent ${formatBytes(bytes)} in ${time}; with less than ${formatBytes(least)} in that time a download is stopped`,
    'Check the network, then run the same command again.',
    { retryable: true },
  );
}

/**
 * The failure of an address that is refused, once the job has no other.
 * @param expiresAt until when the service keeps the result, null when it does not say
 */
export function linkRefusedFailure(
  name: string,
  { facts, gateway, said, atMs }: StorageRefusal,
  expiresAt: string | null,
): Failure {
  const expiryMs = Date.parse(expiresAt ?? '');
  if (expiryMs <= atMs || (Number.isNaN(expiryMs) && facts.status === 410))
    return resultExpiredFailure(name, said);
  const until = Number.isNaN(expiryMs)
    ? ''
    : `; it can be downloaded until ${new Date(expiryMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const deadline = until === '' ? 'soon' : 'before then';
  const own: FailureFacts = {
    ...facts,
    code: 'LINK_REFUSED',
    message: `storage refused the download address of ${name} (${said})`,
    advice: `Run the same command again ${deadline}: the job is paid and is not submitted again. If it is refused again, send the job id to the operator of the service.`,
    retryable: true,
  };
  const refused = gateway ?? own;
  return new Failure({ ...refused, message: refused.message + until });
}

/** The failure of a result that storage no longer has. */
export function resultExpiredFailure(name: string, said: string): Failure {
  return expiredFailure(
    'RESULT_EXPIRED',
    `the download address of ${name} has expired and cannot be renewed (${said})`,
    'The service has deleted the result: start a new job.',
    { origin: 'storage', blame: 'link', retryable: false },
  );
}
