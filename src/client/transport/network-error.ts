/** Failures of connections: what happened, why, what to do next. */
import { Failure, type FailureFacts } from '../../base/failure.ts';
import { explainNetworkError, networkCode } from '../../base/network-error.ts';
import { ProxyError } from './proxy.ts';
import type { RetryAdvice } from './retry.ts';

type ErrorText = Pick<FailureFacts, 'category' | 'code' | 'message' | 'advice'>;

const LATER = 'Check the network, then run the same command again.';

const temporary = (code: string, message: string, advice = LATER): ErrorText => ({
  category: 'temporary',
  code,
  message,
  advice,
});

/** By the answer of a proxy that opened no tunnel; null: none came. */
function proxyWords({ proxy, status, cause }: ProxyError, host: string): ErrorText {
  switch (status) {
    case 407:
      return {
        category: 'configuration',
        code: 'PROXY_CREDENTIALS',
        message: `the proxy ${proxy} requires a user name and a password`,
        advice: 'Put them into HTTPS_PROXY: http://user:password@host:port.',
      };
    case 403:
      return {
        category: 'configuration',
        code: 'PROXY_REFUSED',
        message: `the proxy ${proxy} refuses connections to ${host}`,
        advice: 'Allow the host at the proxy, or name it in NO_PROXY if it can be reached directly.',
      };
    case null:
      return { ...connectionWords(cause, `the proxy ${proxy}`, 'HTTPS_PROXY'), code: 'PROXY_UNREACHABLE' };
    default:
      return temporary('PROXY_FAILED', `the proxy ${proxy} cannot reach ${host} (status ${status})`);
  }
}

/** @param address names the setting that leads to the subject */
function connectionWords(error: unknown, subject: string, address: string): ErrorText {
  const { code, what, kind, advice } = explainNetworkError(error);
  const text = advice?.(address);
  return {
    category: kind === 'setup' ? 'configuration' : 'temporary',
    code,
    message: `${subject} ${what}`,
    advice: text === undefined ? LATER : `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`,
  };
}

/** A defect of this program must not be reported as a network error. */
function isOwnFault(error: unknown): boolean {
  const code = networkCode(error);
  // An argument that undici does not accept.
  if (code === 'UND_ERR_INVALID_ARG') return true;
  const ours = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return ours && code === '';
}

/**
 * A network error as a Failure, and whether another attempt makes sense: not for a certificate, which stays wrong.
 * @param host shown, never a path or a query
 * @throws the error itself when it is not a network error
 */
export function describeNetworkError(
  error: unknown,
  host: string,
): { failure: Failure; advice: RetryAdvice } {
  if (isOwnFault(error)) throw error;
  const words =
    error instanceof ProxyError ? proxyWords(error, host) : connectionWords(error, host, 'the base URL');
  const retryable = words.category === 'temporary';
  // A proxy that refused the tunnel did answer.
  const origin = error instanceof ProxyError && error.status !== null ? 'gateway' : 'network';
  const failure = new Failure({ ...words, retryable, origin, blame: origin }, { cause: error });
  // A closed client stays closed.
  const again = retryable && words.code !== 'CLIENT_CLOSED';
  const advice: RetryAdvice = again ? { type: 'backoff', cause: 'fault', askedMs: null } : { type: 'never' };
  return { failure, advice };
}
