/** The answer that a fault puts in the place of the right one. */
import { ERROR_CODES, isErrorCode } from '../../protocol/error-codes.ts';
import { describeProblem, PROBLEM_CONTENT_TYPE } from '../../protocol/problem.ts';
import type { Answer } from '../http/answer.ts';
import type { RequestFacts } from '../http/faults.ts';
import { DOCS_PATH } from '../http/problem.ts';
import type { Fault } from './fault.ts';

/** Makes the answer to one request; null for a fault that does not answer in words of its own. */
export function makeFaultAnswer(fault: Fault, request: RequestFacts): Answer | null {
  if ('body' in fault) {
    const { status = 200, body, headers = {} } = fault;
    return { status, headers: { 'Content-Type': 'application/json', ...headers }, body };
  }
  if (!('status' in fault)) return null;
  const { status, retryAfter } = fault;
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'Retry-After': `${retryAfter}` };
  const code = fault.code ?? firstCodeOf(status);
  if (code === null) {
    const body = `<html><title>${status}</title><h1>${status}</h1></html>`;
    return { status, headers: { 'Content-Type': 'text/html', ...headers }, body };
  }
  const problem = describeProblem(code, {
    detail: 'this fault was scripted',
    instance: new URL(request.target, request.origin).pathname,
    requestId: request.requestId,
    docsUrl: request.origin + DOCS_PATH,
  });
  return {
    status,
    headers: { 'Content-Type': PROBLEM_CONTENT_TYPE, ...headers },
    body: JSON.stringify(problem),
  };
}

function firstCodeOf(status: number) {
  const codes = Object.keys(ERROR_CODES).filter(isErrorCode);
  return codes.find((code) => ERROR_CODES[code].status === status) ?? null;
}
