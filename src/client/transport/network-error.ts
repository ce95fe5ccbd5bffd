/** Messages for network errors: what happened, why, what to do next. */
import { Failure, type FailureFacts } from '../../base/failure.ts';
import { errorCode } from '../../base/system-error.ts';
import { TimeOver } from './http.ts';
import { ProxyError } from './proxy.ts';
import type { RetryAdvice } from './retry.ts';

type ErrorText = Pick<FailureFacts, 'category' | 'code' | 'message' | 'advice'>;

const LATER = 'Check the network, then run the same command again.';
const COMPANY_CA =
  'If a company proxy decrypts TLS, point NODE_EXTRA_CA_CERTS at its certificate; otherwise contact the operator of the service.';

const temporary = (code: string, message: string, advice = LATER): ErrorText => ({
  category: 'temporary',
  code,
  message,
  advice,
});

const wrongSetup = (code: string, message: string, advice: string): ErrorText => ({
  category: 'configuration',
  code,
  message,
  advice,
});

const clientClosed = (host: string) =>
  temporary('CLIENT_CLOSED', `the request to ${host} was aborted because the client was closed`);

const headersTooLarge = (host: string) =>
  temporary('ANSWER_HEADERS_TOO_LARGE', `${host} answers with headers of more than 16 KiB`);

/** By the `code` of the error; `host` is shown, never a path or a query. */
const WORDS: Readonly<Record<string, (host: string) => ErrorText>> = {
  ECONNREFUSED: (host) =>
    temporary(
      'CONNECTION_REFUSED',
      `${host} refuses connections`,
      'Check the base URL and that the service runs.',
    ),
  ECONNRESET: (host) => temporary('CONNECTION_RESET', `${host} dropped the connection`),
  UND_ERR_SOCKET: (host) => temporary('CONNECTION_RESET', `${host} dropped the connection`),
  EPIPE: (host) => temporary('CONNECTION_RESET', `${host} dropped the connection`),
  ENOTFOUND: (host) =>
    temporary('HOST_NOT_FOUND', `there is no host named ${host}`, 'Check the base URL and the network.'),
  EAI_AGAIN: (host) => temporary('NAME_LOOKUP_FAILED', `the name ${host} cannot be looked up right now`),
  ENETUNREACH: (host) => temporary('NETWORK_UNREACHABLE', `there is no route to ${host} from this network`),
  EHOSTUNREACH: (host) => temporary('NETWORK_UNREACHABLE', `there is no route to ${host} from this network`),
  ETIMEDOUT: (host) => temporary('CONNECT_TIMEOUT', `connecting to ${host} timed out`),
  UND_ERR_CONNECT_TIMEOUT: (host) => temporary('CONNECT_TIMEOUT', `connecting to ${host} timed out`),
  ERR_CLIENT_CLOSED: clientClosed,
  UND_ERR_DESTROYED: clientClosed,
  UND_ERR_CLOSED: clientClosed,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: (host) =>
    temporary('ANSWER_CUT_OFF', `the answer of ${host} is cut off`),
  UND_ERR_HEADERS_OVERFLOW: headersTooLarge,
  HPE_HEADER_OVERFLOW: headersTooLarge,
  CERT_HAS_EXPIRED: (host) =>
    wrongSetup(
      'TLS_CERTIFICATE',
      `the certificate of ${host} has expired`,
      'Check the clock of this machine; if it is right, contact the operator of the service.',
    ),
  CERT_NOT_YET_VALID: (host) =>
    wrongSetup(
      'TLS_CERTIFICATE',
      `the certificate of ${host} is not valid yet`,
      'Check the clock of this machine.',
    ),
  ERR_TLS_CERT_ALTNAME_INVALID: (host) =>
    wrongSetup(
      'TLS_CERTIFICATE',
      `the certificate shown by ${host} is for another name`,
      'Check the base URL.',
    ),
  EPROTO: (host) =>
    wrongSetup('TLS_PROTOCOL', `${host} does not speak TLS there`, 'Check scheme and port of the base URL.'),
};

const CERTIFICATE_CODE = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT)/;

/** The `code` of an error, or of the first one in a group of attempts; empty when there is none. */
function networkCode(error: unknown): string {
  const code = errorCode(error);
  if (code !== '' || !(error instanceof Error)) return code;
  if (error instanceof AggregateError) return networkCode(error.errors[0]);
  return networkCode(error.cause);
}

/** By the answer of a proxy that opened no tunnel; all others are for later. */
const PROXY_WORDS: Readonly<Record<number, (proxy: string, host: string) => ErrorText>> = {
  407: (proxy) =>
    wrongSetup(
      'PROXY_CREDENTIALS',
      `the proxy ${proxy} requires a user name and a password`,
      'Put them into HTTPS_PROXY: http://user:password@host:port.',
    ),
  403: (proxy, host) =>
    wrongSetup(
      'PROXY_REFUSED',
      `the proxy ${proxy} refuses connections to ${host}`,
      'Allow the host at the proxy, or name it in NO_PROXY if it can be reached directly.',
    ),
};

function proxyWords({ proxy, status }: ProxyError, host: string): ErrorText {
  const known = status === null ? undefined : PROXY_WORDS[status];
  if (known !== undefined) return known(proxy, host);
  return status === null
    ? temporary(
        'PROXY_UNREACHABLE',
        `the proxy ${proxy} cannot be reached`,
        'Check HTTPS_PROXY and the network.',
      )
    : temporary('PROXY_FAILED', `the proxy ${proxy} cannot reach ${host} (status ${status})`);
}

function wordsFor(error: unknown, host: string): ErrorText {
  if (error instanceof ProxyError) return proxyWords(error, host);
  if (error instanceof TimeOver) return temporary('ANSWER_TIMEOUT', `${host} did not answer in time`);
  const code = networkCode(error);
  const known = WORDS[code];
  if (known !== undefined) return known(host);
  if (CERTIFICATE_CODE.test(code)) {
    return wrongSetup('TLS_CERTIFICATE', `the certificate of ${host} is not trusted (${code})`, COMPANY_CA);
  }
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) {
    return wrongSetup('TLS_PROTOCOL', `no secure connection to ${host} (${code})`, 'Check the base URL.');
  }
  if (code.startsWith('HPE_'))
    return temporary('ANSWER_NOT_HTTP', `${host} answers with something that is not HTTP`);
  return temporary('NETWORK_ERROR', `the connection to ${host} failed${code === '' ? '' : ` (${code})`}`);
}

/** A defect of this program must not be reported as a network error. */
function isOwnFault(error: unknown): boolean {
  const ours = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return ours && networkCode(error) === '';
}

/**
 * A network error as a Failure, and whether another attempt makes sense: not for a certificate, which stays wrong.
 * @throws the error itself when it is not a network error
 */
export function describeNetworkError(
  error: unknown,
  host: string,
): { failure: Failure; advice: RetryAdvice } {
  if (isOwnFault(error)) throw error;
  const words = wordsFor(error, host);
  const retryable = words.category === 'temporary';
  // A proxy that refused the tunnel did answer.
  const origin = error instanceof ProxyError && error.status !== null ? 'gateway' : 'network';
  const failure = new Failure({ ...words, retryable, origin, blame: origin }, { cause: error });
  // A closed client stays closed.
  const again = retryable && words.code !== 'CLIENT_CLOSED';
  const advice: RetryAdvice = again ? { type: 'backoff', cause: 'fault', askedMs: null } : { type: 'never' };
  return { failure, advice };
}
