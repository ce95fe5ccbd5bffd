/** Turns what came over the wire into an Answer, or into a Failure with advice on a retry. */
import { Failure, type FailureFacts } from '../../base/failure.ts';
import { retryAfterOf } from '../../base/retry.ts';
import { IDEMPOTENCY_REPLAYED, REQUEST_ID } from '../../protocol/headers.ts';
import type { FieldError } from '../../protocol/problem.ts';
import type { ApiResponse } from '../call.ts';
import { asObject, asText, readMember } from '../read/record.ts';
import {
  adviseUser,
  BLAMES,
  classifyError,
  type ErrorClass,
  gatewayFacts,
  UNREADABLE,
} from './error-class.ts';
import { type AttemptResult, adviceOf } from './retry.ts';

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** The answer behind a failure, as its cause. */
export class RefusedAnswer {
  readonly raw: RawResponse;

  constructor(raw: RawResponse) {
    this.raw = raw;
  }

  /** The parsed JSON; another text as it is; null when there is none. */
  get body(): unknown {
    const { bytes } = this.raw;
    if (bytes.length === 0) return null;
    const body = tryParse(bytes);
    return body instanceof JsonError ? bytes.toString('utf8') : body;
  }
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** @param now the service's time in milliseconds, for a Retry-After that is a date and has no Date beside it */
export function readResponse(raw: RawResponse, now: number): AttemptResult<ApiResponse> {
  const { status, headers, bytes } = raw;
  const requestId = cleanRequestId(headers[REQUEST_ID]);
  const askedMs = retryAfterOf(headers, now);
  const refuse = (verdict: ErrorClass, facts: FailureFacts): AttemptResult<ApiResponse> => ({
    type: 'failed',
    failure: new Failure(
      { ...withRequestId(requestId), ...facts, status, ...withRetryAfter(askedMs) },
      { cause: new RefusedAnswer(raw) },
    ),
    advice: adviceOf(verdict, askedMs),
  });
  const foreign = (shown: string, code: string | null = null): AttemptResult<ApiResponse> => {
    const verdict = classifyError({ origin: 'gateway', status, code, retryable: null });
    return refuse(verdict, gatewayFacts(verdict, status, shown, 'the API'));
  };

  if (status >= 300 && status < 400) {
    const verdict = classifyError({ origin: 'gateway', status, code: null, retryable: null });
    return refuse(verdict, redirected(status, headers));
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    return foreign('it is compressed, which was not requested', UNREADABLE.compressed);
  if (status === 204) return success(raw, null, requestId);
  const type = headers['content-type'] ?? '';
  if (!JSON_TYPE.test(type)) return foreign(firstLine(bytes));
  const body = tryParse(bytes);
  if (status < 300) {
    if (!(body instanceof JsonError)) return success(raw, body, requestId);
    // Responses of the service have an id; a gateway that cuts or replaces them adds none.
    const origin = requestId === null ? 'gateway' : 'api';
    const verdict = classifyError({ origin, status, code: null, retryable: null });
    return refuse(verdict, { ...unreadable(body), origin, blame: verdict.blame });
  }
  const problem = body instanceof JsonError ? null : readProblem(body, type);
  if (problem === null) return foreign(firstLine(bytes));
  const { code, retryable } = problem;
  const verdict = classifyError({ origin: 'api', status, code, retryable });
  return refuse(verdict, refusal(verdict, status, problem));
}

function success(raw: RawResponse, body: unknown, requestId: string | null): AttemptResult<ApiResponse> {
  const replayed = raw.headers[IDEMPOTENCY_REPLAYED]?.toLowerCase() === 'true';
  return { type: 'done', value: { status: raw.status, body, requestId, replayed, headers: raw.headers } };
}

function tryParse(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
}

/** Longest text of the service that is shown in one message. */
const MESSAGE_LENGTH = 500;

/** One sentence without its final stop, on one line. */
function asSentence(text: string): string {
  return text.slice(0, MESSAGE_LENGTH).replace(/\s+/g, ' ').trim().replace(/\.$/, '');
}

function refusal(verdict: ErrorClass, status: number, problem: ReadProblem): FailureFacts {
  const { category, blame, retry } = verdict;
  const said = asSentence(problem.message ?? `the service answered with status ${status}`);
  const { why } = BLAMES[blame];
  return {
    category,
    code: problem.code ?? `HTTP_${status}`,
    origin: 'api',
    blame,
    message: why === null ? said : `${why}: ${said}`,
    advice: adviseUser(verdict, problem.code),
    retryable: problem.retryable ?? (retry !== 'never' || category === 'temporary'),
    ...withRequestId(cleanRequestId(problem.requestId ?? undefined)),
    ...(problem.errors.length === 0 ? {} : { errors: problem.errors }),
  };
}

function unreadable(error: JsonError): FailureFacts {
  return {
    category: 'temporary',
    code: 'ANSWER_UNREADABLE',
    message: `the answer of the service cannot be read: ${error.message}`,
    advice: 'Run the same command again; if the problem persists, report the request id.',
    retryable: true,
  };
}

/** Code of the failure of a redirected call. */
export const REDIRECTED = 'REDIRECTED';

function redirected(status: number, headers: RawResponse['headers']): FailureFacts {
  const location = headers.location ?? '';
  const elsewhere = URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  return {
    category: 'configuration',
    code: REDIRECTED,
    origin: 'gateway',
    blame: 'gateway',
    message: `the service answered with a redirect${elsewhere} (status ${status}), and signed requests do not follow redirects`,
    advice:
      'Set the base URL to the address of the service itself, or sign in where a login page asks for it.',
    retryable: false,
  };
}

/** The request id of an answer, as a fact of its failure. */
export function requestIdFact(headers: RawResponse['headers']): Pick<FailureFacts, 'requestId'> {
  return withRequestId(cleanRequestId(headers[REQUEST_ID]));
}

/** Drops request ids with unprintable characters. */
function cleanRequestId(value: string | undefined): string | null {
  return value !== undefined && /^[\x21-\x7e]{1,128}$/.test(value) ? value : null;
}

function withRequestId(requestId: string | null): Pick<FailureFacts, 'requestId'> {
  return requestId === null ? {} : { requestId };
}

function withRetryAfter(retryAfterMs: number | null): Pick<FailureFacts, 'retryAfterMs'> {
  return retryAfterMs === null ? {} : { retryAfterMs };
}

interface ReadProblem {
  readonly code: string | null;
  /** `detail`, else `title`. */
  readonly message: string | null;
  readonly retryable: boolean | null;
  readonly requestId: string | null;
  readonly errors: readonly FieldError[];
}

/** More errors than a person reads. */
const MAX_ERRORS = 50;

/** The members of the specification beside `code`. */
const MEMBERS = ['type', 'title', 'detail', 'instance', 'request_id', 'retryable'];
const PROBLEM_TYPE = /^application\/problem\+json\s*(?:;|$)/i;

/**
 * Never fails: a missing member, or one of another type, is null.
 * @returns null for JSON in another shape, which a gateway writes: the service gives a code and says more, or at least
 *   names the type of a problem
 */
export function readProblem(body: unknown, contentType: string): ReadProblem | null {
  const object = asObject(body);
  if (object === null) return null;
  const code = asText(readMember(object, 'code'));
  const hasMembers = MEMBERS.some((name) => readMember(object, name) !== undefined);
  if (!hasMembers || (code === null && !PROBLEM_TYPE.test(contentType))) return null;
  const retryable = readMember(object, 'retryable');
  return {
    code,
    message: asText(readMember(object, 'detail')) ?? asText(readMember(object, 'title')),
    retryable: typeof retryable === 'boolean' ? retryable : null,
    requestId: asText(readMember(object, 'request_id')),
    errors: readErrors(readMember(object, 'errors')),
  };
}

function readErrors(value: unknown): FieldError[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_ERRORS).flatMap((entry) => {
    const object = asObject(entry);
    if (object === null) return [];
    const pointer = asText(readMember(object, 'pointer')) ?? '';
    const detail = asText(readMember(object, 'detail')) ?? '';
    return pointer === '' && detail === '' ? [] : [{ pointer, detail }];
  });
}

/** Largest answer, decoded. Source: design, "Transport". */
export const MAX_ANSWER_BYTES = 16 * 1024 ** 2;

/** Deeper than any resource by far; code that walks a value by recursion survives it. */
const MAX_DEPTH = 100;

/** Bytes that are not JSON as the client accepts it; the message says why and quotes nothing. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/**
 * Parses UTF-8 JSON.
 * @throws JsonError when it is empty, malformed, not UTF-8, or nested more than 100 deep
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new JsonError('it is empty');
  if (isDeeperThan(bytes, MAX_DEPTH)) throw new JsonError(`it is nested more than ${MAX_DEPTH} deep`);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new JsonError('it is cut off or malformed JSON', { cause: error });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

function isDeeperThan(bytes: Buffer, limit: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (quoted && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) quoted = !quoted;
    else if (!quoted && OPENING.has(byte)) depth += 1;
    else if (!quoted && CLOSING.has(byte)) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}

/** Enough for the title of an error page. */
const READ_BYTES = 2048;
const SHOWN_CHARACTERS = 120;

/** The first words of a page, without tags and control characters, or what JSON says went wrong; empty when it says nothing. */
export function firstLine(bytes: Buffer): string {
  const page = bytes.subarray(0, READ_BYTES).toString('utf8');
  const said = /^\s*(?:\{\s*"|\[\s*[{["])/.test(page) ? sentenceIn(tryParse(bytes)) : page;
  const words = said
    .replace(/<(?:style|script)[^>]*>[^<]*/gi, ' ')
    .replace(/<[^>]*>/g, '\n')
    .replace(/[^\P{C}\n]/gu, '');
  const line = (words.split('\n').find((each) => each.trim() !== '') ?? '').trim();
  if (line.length <= SHOWN_CHARACTERS) return line;
  // Up to the last whole word.
  return `${line.slice(0, SHOWN_CHARACTERS - 1).replace(/\s+\S*$/, '')}…`;
}

/** Where APIs, gateways and storage say what went wrong, the name of the fault first. */
const TELLING_MEMBERS = ['code', 'title', 'error', 'message', 'detail', 'error_description', 'errors'];

/** The texts in these members; empty without any. */
function sentenceIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return sentenceIn(value[0]);
  const object = asObject(value);
  if (object === null || value instanceof JsonError) return '';
  const texts = TELLING_MEMBERS.map((name) => sentenceIn(readMember(object, name)));
  return [...new Set(texts)].filter((text) => text !== '').join(': ');
}
