import { ERROR_CODES, isErrorCode } from '../../protocol/error-codes.ts';
import type { Answer } from '../http/answer.ts';
import { Refusal } from '../http/refusal.ts';

/** The page that the `type` of a problem leads to. `name` is the code in lower case. */
export function answerErrorPage(name: string): Answer {
  const code = name.toUpperCase();
  if (name !== name.toLowerCase() || !isErrorCode(code)) {
    throw new Refusal('RESOURCE_NOT_FOUND', `there is no error "${name.slice(0, 64)}"`);
  }
  const { status, title, retryable, advice } = ERROR_CODES[code];
  const lines = [
    `${code} (HTTP ${status})`,
    '',
    `${title}.`,
    advice,
    '',
    retryable ? 'The same request may succeed later.' : 'The same request will not succeed later.',
    '',
  ];
  return { status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: lines.join('\n') };
}
