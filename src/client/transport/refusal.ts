/** What an answer that is no success means to the user. */
import { ERROR_CODES, isErrorCode } from '../../protocol/error-codes.ts';
import type { FailureCategory, FailureFacts } from '../failure.ts';

/** The category, hence the exit code, of an error answer. Source: design, "Exit codes". */
export function categoryOf(status: number, code: string | null, retryable: boolean | null): FailureCategory {
  if (status === 402 || code === 'CREDIT_QUOTA_EXCEEDED') return 'credits';
  if (status === 401 || status === 403) return 'configuration';
  if (status === 410) return 'expired';
  // The service's own word that trying again is of no use makes even a 503 a refusal.
  if (retryable !== null) return retryable ? 'temporary' : 'refused';
  return status === 408 || status === 429 || status >= 500 ? 'temporary' : 'refused';
}

const ADVICE: Readonly<Record<FailureCategory, string>> = {
  refused: 'Correct the request; for help, give the request id to whoever runs the service.',
  configuration: 'Check the key, its permissions and the base URL: `vloc doctor` tests them.',
  credits: 'Add credits, then run the same command again.',
  expired: 'Start a new job.',
  temporary: 'Run the same command again later.',
  timeout: 'Run the same command again later.',
  usage: 'Correct the command.',
  partial: 'Run the same command again.',
  job: 'Read the error of the job.',
  disk: 'Make room, then run the same command again.',
};

/** What to do next: by code where it is known, else by category. */
export function adviseUser(category: FailureCategory, code: string | null): string {
  return code !== null && isErrorCode(code) ? ERROR_CODES[code].advice : ADVICE[category];
}

/** Longest text of the service that is shown in one message. */
const MESSAGE_LENGTH = 500;

/** One sentence without its final stop, on one line. */
export function asSentence(text: string): string {
  return text.slice(0, MESSAGE_LENGTH).replace(/\s+/g, ' ').trim().replace(/\.$/, '');
}

/** An answer that somebody else than the service gave: a proxy, a login page, a wrong address. */
export function foreignAnswer(status: number, shown: string): FailureFacts {
  const said = shown === '' ? '' : `: ${shown}`;
  const outage = status >= 500;
  return {
    category: outage ? 'temporary' : 'configuration',
    code: 'NOT_THE_SERVICE',
    message: `the answer did not come from the API (status ${status}${said})`,
    advice: outage
      ? 'Something before the service is out of order: run the same command again later.'
      : 'Check the base URL, and any proxy or login page between here and the service.',
    status,
    retryable: outage,
  };
}
