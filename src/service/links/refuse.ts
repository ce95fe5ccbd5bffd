/** Refusals of links. Their codes are not part of the interface, since links are not operations of it. */
import { PROBLEM_CONTENT_TYPE } from '../../protocol/problem.ts';
import type { Answer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';

const LINK_PROBLEMS = {
  LINK_NOT_VALID: { status: 403, title: 'This address does not permit this' },
  LINK_EXPIRED: { status: 410, title: 'This address has expired' },
} as const;

/** An error body of the usual members, without a page of its own: RFC 9457, "about:blank". */
export function refuseLink(code: keyof typeof LINK_PROBLEMS, detail: string, exchange: Exchange): Answer {
  const { status, title } = LINK_PROBLEMS[code];
  return {
    status,
    headers: { 'Content-Type': PROBLEM_CONTENT_TYPE },
    body: JSON.stringify({
      type: 'about:blank',
      title,
      status,
      detail,
      instance: exchange.path,
      code,
      request_id: exchange.id,
      retryable: false,
    }),
  };
}
