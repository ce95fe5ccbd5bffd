/** Turns what came over the wire into an Answer, or into a Failure with advice on a retry. */
import { IDEMPOTENCY_REPLAYED, REQUEST_ID } from '../../protocol/headers.ts';
import type { Answer } from '../call.ts';
import { Failure, type FailureFacts } from '../failure.ts';
import { type ReadProblem, readProblem } from '../read/problem.ts';
import { firstLine } from './first-line.ts';
import { JsonError, parseJson } from './json.ts';
import { adviseUser, asSentence, categoryOf, foreignAnswer } from './refusal.ts';
import { adviseOnAnswer, type RefusedAnswer } from './retry.ts';
import { retryAfterOf } from './retry-after.ts';
import type { Outcome } from './retry-loop.ts';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** @param now the service's time in milliseconds, for a Retry-After that is a date and has no Date beside it */
export function readAnswer(raw: RawAnswer, now: number): Outcome<Answer> {
  const { status, headers, bytes } = raw;
  const requestId = cleanRequestId(headers[REQUEST_ID]);
  const askedMs = retryAfterOf(headers, now);
  const refuse = (
    facts: FailureFacts,
    refused: Omit<RefusedAnswer, 'status' | 'askedMs'>,
  ): Outcome<Answer> => ({
    type: 'failed',
    failure: new Failure({ ...withRequestId(requestId), ...facts, status, ...withRetryAfter(askedMs) }),
    advice: adviseOnAnswer({ ...refused, status, askedMs }),
  });
  const foreign = (shown: string) => {
    const facts = foreignAnswer(status, shown);
    return refuse(facts, { code: null, retryable: facts.retryable ?? null });
  };

  if (status >= 300 && status < 400)
    return refuse(redirected(status, headers), { code: null, retryable: false });
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') return foreign('it is compressed though that was not asked for');
  if (status === 204) return success(raw, null, requestId);
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) return foreign(firstLine(bytes));
  const body = tryParse(bytes);
  if (status < 300) {
    return body instanceof JsonError
      ? refuse(unreadable(body), { code: null, retryable: true })
      : success(raw, body, requestId);
  }
  const problem = body instanceof JsonError ? null : readProblem(body);
  if (problem === null) return foreign(firstLine(bytes));
  return refuse(refusal(status, problem), problem);
}

function success(raw: RawAnswer, body: unknown, requestId: string | null): Outcome<Answer> {
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

function refusal(status: number, problem: ReadProblem): FailureFacts {
  const category = categoryOf(status, problem.code, problem.retryable);
  return {
    category,
    code: problem.code ?? `HTTP_${status}`,
    message: asSentence(problem.message ?? `the service answered with status ${status}`),
    advice: adviseUser(category, problem.code),
    retryable: problem.retryable ?? category === 'temporary',
    ...withRequestId(cleanRequestId(problem.requestId ?? undefined)),
    ...(problem.errors.length === 0 ? {} : { errors: problem.errors }),
  };
}

function unreadable(error: JsonError): FailureFacts {
  return {
    category: 'temporary',
    code: 'ANSWER_UNREADABLE',
    message: `the answer of the service cannot be read: ${error.message}`,
    advice: 'Run the same command again; if it stays, report the request id.',
    retryable: true,
  };
}

function redirected(status: number, headers: RawAnswer['headers']): FailureFacts {
  const location = headers.location ?? '';
  const elsewhere = URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  return {
    category: 'configuration',
    code: 'REDIRECTED',
    message: `the service answered with a redirect${elsewhere} (status ${status}), and signed requests follow none`,
    advice: 'Set the base URL to where the service really is.',
    retryable: false,
  };
}

/** The request id of an answer, as a fact of its failure. */
export function requestIdFact(headers: RawAnswer['headers']): Pick<FailureFacts, 'requestId'> {
  return withRequestId(cleanRequestId(headers[REQUEST_ID]));
}

/** Ids that could not be copied into a message to support are as good as none. */
function cleanRequestId(value: string | undefined): string | null {
  return value !== undefined && /^[\x21-\x7e]{1,128}$/.test(value) ? value : null;
}

function withRequestId(requestId: string | null): Pick<FailureFacts, 'requestId'> {
  return requestId === null ? {} : { requestId };
}

function withRetryAfter(retryAfterMs: number | null): Pick<FailureFacts, 'retryAfterMs'> {
  return retryAfterMs === null ? {} : { retryAfterMs };
}
