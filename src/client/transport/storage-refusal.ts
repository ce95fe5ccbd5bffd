/**
 * Meaning of the answer of a presigned address when it is not the bytes. Storage is not the API: its errors are XML, JSON or
 * nothing; pages and plain text come from something in front of it.
 */

import { decodeXML } from 'entities';
import type { FailureFacts } from '../../base/failure.ts';
import { parseHttpDate, retryAfterOf } from '../../base/retry.ts';
import { firstLine } from './answer.ts';
import { classifyError, type ErrorClass, gatewayFacts } from './error-class.ts';
import { adviceOf, type RetryAdvice } from './retry.ts';

export interface StorageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body. */
  readonly page: Buffer;
}

export interface StorageRefusal {
  readonly origin: 'storage' | 'gateway';
  readonly verdict: ErrorClass;
  readonly advice: RetryAdvice;
  /** For a message: `status 403: Request has expired`. */
  readonly said: string;
  /** When it was issued, by the clock of the issuer, in milliseconds; the clock of this machine may be wrong. */
  readonly atMs: number;
  /** Facts of every failure made of this answer. */
  readonly facts: Pick<
    FailureFacts,
    'origin' | 'blame' | 'category' | 'status' | 'retryable' | 'retryAfterMs'
  >;
  /** The whole failure when a gateway sent the answer, else null. */
  readonly gateway: FailureFacts | null;
}

/** @param now the service's time in milliseconds */
export function readStorageRefusal({ status, headers, page }: StorageAnswer, now: number): StorageRefusal {
  const origin = isGatewayPage(headers, page) ? 'gateway' : 'storage';
  const words = describeStorageError(page);
  const code = codeOf(page, words);
  const verdict = classifyError({ origin, status, code, retryable: null });
  const askedMs = retryAfterOf(headers, now);
  const retryAfter = askedMs === null ? {} : { retryAfterMs: askedMs };
  const { category, blame, retry } = verdict;
  return {
    origin,
    verdict,
    advice: adviceOf(verdict, askedMs),
    atMs: parseHttpDate(headers.date) ?? now,
    said: words === '' ? `status ${status}` : `status ${status}: ${words}`,
    facts: { origin, blame, category, status, retryable: retry !== 'never', ...retryAfter },
    gateway:
      origin === 'storage' ? null : { ...gatewayFacts(verdict, status, words, 'storage'), ...retryAfter },
  };
}

const STRUCTURED_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?(?:xml|json)\s*(?:;|$)/i;
const HTML = /^\s*(?:<!doctype html|<html)/i;

/** True for a page or plain text: no storage that is used through an API answers like that. */
export function isGatewayPage(headers: StorageAnswer['headers'], page: Buffer): boolean {
  const text = page.toString('utf8');
  if (text.trim() === '') return false;
  if (HTML.test(text)) return true;
  if (STRUCTURED_TYPE.test(headers['content-type'] ?? '')) return false;
  // Without a type, a body that looks like XML or JSON counts as such.
  return (headers['content-type'] ?? '').startsWith('text/html') || !/^\s*(?:<\?xml|<Error\b|\{)/.test(text);
}

/** The `<Code>` of S3 and its like; all codes of an expiry become one code. */
function codeOf(page: Buffer, words: string): string | null {
  if (/expire/i.test(words)) return 'ExpiredToken';
  return /<Code>([A-Za-z]{1,60})<\/Code>/.exec(page.toString('utf8'))?.[1] ?? null;
}

/** Enough of an error page to find its message. */
export const ERROR_PAGE_BYTES = 4096;

/**
 * The code and the message of an error of S3 and its like, else the first line of the page; empty when it says nothing.
 * @param page its beginning
 */
export function describeStorageError(page: Buffer): string {
  const text = page.toString('utf8');
  const words = [elementOf(text, 'Code'), elementOf(text, 'Message')].filter((each) => each !== '');
  return words.length > 0 ? words.join(': ') : firstLine(page);
}

/** The text of the first element of that name, on one line. */
function elementOf(xml: string, name: string): string {
  const found = new RegExp(`<${name}>([^<]{1,200})</${name}>`).exec(xml)?.[1] ?? '';
  return decodeXML(firstLine(Buffer.from(found))).replace(/\p{C}/gu, '');
}
