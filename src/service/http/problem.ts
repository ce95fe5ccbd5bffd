/** Error answers. Source: specification, "Errors"; contract, "Errors". */
import { describeProblem, PROBLEM_CONTENT_TYPE } from '../../protocol/problem.ts';
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import type { Refusal } from './refusal.ts';

/** Path below the origin where the documents of the service lie. */
export const DOCS_PATH = '/docs';

/** Makes the answer to a refused request. */
export function answerRefusal(refusal: Refusal, exchange: Exchange, origin: string): Answer {
  const problem = describeProblem(refusal.code, {
    detail: refusal.message,
    instance: exchange.path,
    requestId: exchange.id,
    docsUrl: origin + DOCS_PATH,
    ...(refusal.extras.errors === undefined ? {} : { errors: refusal.extras.errors }),
  });
  return {
    status: problem.status,
    headers: { 'Content-Type': PROBLEM_CONTENT_TYPE, ...refusal.extras.headers },
    body: JSON.stringify(problem),
  };
}
