/** Assertions about answers. */
import assert from 'node:assert/strict';
import type { ServiceUnderTest } from '../service.ts';
import type { Incoming } from '../wire/exchange.ts';
import { asObject, isObject, show } from '../wire/json.ts';

/** The codes that the specification names, with their status. Any other error may have any code. */
export const NAMED_CODES: Readonly<Record<string, number>> = {
  INVALID_REQUEST: 400,
  AUTHENTICATION_FAILED: 401,
  INSUFFICIENT_CREDITS: 402,
  API_ACCESS_NOT_INCLUDED_IN_PLAN: 403,
  SOURCE_IP_NOT_ALLOWED: 403,
  IDEMPOTENCY_KEY_REUSED: 409,
  RATE_LIMIT_EXCEEDED: 429,
  CONCURRENCY_LIMIT_EXCEEDED: 429,
  CREDIT_QUOTA_EXCEEDED: 429,
  SERVICE_TEMPORARILY_UNAVAILABLE: 503,
};

export const REQUEST_ID = /^req_[A-Za-z0-9_-]+$/;

/** Describes an answer in one line: the request, the status, and the problem if there is one. */
export function describe(answer: Incoming): string {
  const problem = isObject(answer.json) ? answer.json : {};
  const about = problem.code === undefined ? '' : ` ${show(problem.code)}: ${show(problem.detail)}`;
  const id = answer.headers['x-request-id'];
  return `${answer.method} ${answer.target} answered ${answer.status}${about}${id === undefined ? '' : ` (${id})`}`;
}

/** Fails unless the status is one of these. */
export function expectStatus(answer: Incoming, ...statuses: readonly number[]): void {
  if (statuses.includes(answer.status)) return;
  assert.fail(`expected ${statuses.join(' or ')}; ${describe(answer)}`);
}

/**
 * Fails unless the answer is a problem with that status. The code is also checked if the specification names it or the
 * run is strict.
 */
export function expectProblem(
  service: ServiceUnderTest,
  answer: Incoming,
  statuses: number | readonly number[],
  code?: string,
): void {
  expectStatus(answer, ...(typeof statuses === 'number' ? [statuses] : statuses));
  assert.match(
    answer.headers['content-type'] ?? '',
    /^application\/problem\+json\s*(;|$)/,
    `the content type of a problem; ${describe(answer)}`,
  );
  const problem = asObject(answer.json);
  if (code !== undefined && (service.strict || Object.hasOwn(NAMED_CODES, code))) {
    assert.equal(problem.code, code, `the code of the problem; ${describe(answer)}`);
  }
}

/** Returns the value of a header. Fails if it is missing. */
export function headerOf(answer: Incoming, name: string): string {
  const value = answer.headers[name.toLowerCase()];
  if (value === undefined) assert.fail(`the header ${name} is missing; ${describe(answer)}`);
  return value;
}

/** Fails unless an object has exactly these members. */
export function expectMembers(value: unknown, names: readonly string[], what: string): void {
  const found = Object.keys(asObject(value, what)).toSorted();
  assert.deepEqual(found, names.toSorted(), `the members of ${what}`);
}

/** Fails unless the value is one of those allowed. */
export function expectOneOf(value: unknown, allowed: readonly unknown[], what: string): void {
  if (!allowed.includes(value))
    assert.fail(`${what} must be one of ${allowed.map(show).join(', ')}, is ${show(value)}`);
}
