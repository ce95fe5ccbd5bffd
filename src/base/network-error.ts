/** Errors of connections: the only table of their codes, what they mean, and what to do. Pure; reveals no address. */
import { errorCode } from './system-error.ts';

export interface NetworkError {
  /** Code of the failure, for programs. */
  readonly code: string;
  /** Completes a sentence that begins with the host: "HOST refuses connections". */
  readonly what: string;
  /**
   * `passing`: another try may succeed. `address`: it may while a network comes up, but most often the address is wrong.
   * `setup`: another try meets the same.
   */
  readonly kind: 'passing' | 'address' | 'setup';
  /** An instruction in lower case without a final stop; null: wait and try again. @param address names the setting */
  readonly advice: ((address: string) => string) | null;
}

type Row = NetworkError;

const passing = (code: string, what: string, advice: Row['advice'] = null): Row => ({
  code,
  what,
  kind: 'passing',
  advice,
});

const wrongAddress = (code: string, what: string): Row => ({
  code,
  what,
  kind: 'address',
  advice: (address) => `check ${address} and the network`,
});

const setup = (code: string, what: string, advice: (address: string) => string): Row => ({
  code,
  what,
  kind: 'setup',
  advice,
});

const RESET = passing('CONNECTION_RESET', 'dropped the connection');
const TIMEOUT = passing('CONNECT_TIMEOUT', 'accepted no connection in time');
const NO_ROUTE = passing('NETWORK_UNREACHABLE', 'cannot be reached from this network');
const NO_ANSWER = passing('ANSWER_TIMEOUT', 'did not answer in time');
const CLOSED = passing('CLIENT_CLOSED', 'was not waited for, because the client was closed');
const NO_TLS = setup(
  'TLS_PROTOCOL',
  'does not speak TLS there',
  (address) => `check scheme and port of ${address}`,
);

const ROWS: Readonly<Record<string, Row>> = {
  ECONNREFUSED: passing(
    'CONNECTION_REFUSED',
    'refuses connections',
    (address) => `check ${address} and that the server runs`,
  ),
  ECONNRESET: RESET,
  UND_ERR_SOCKET: RESET,
  EPIPE: RESET,
  ENOTFOUND: wrongAddress('HOST_NOT_FOUND', 'is not a known host name'),
  EAI_AGAIN: passing('NAME_LOOKUP_FAILED', 'cannot be looked up right now'),
  ENETUNREACH: NO_ROUTE,
  EHOSTUNREACH: NO_ROUTE,
  ETIMEDOUT: TIMEOUT,
  UND_ERR_CONNECT_TIMEOUT: TIMEOUT,
  UND_ERR_HEADERS_TIMEOUT: NO_ANSWER,
  UND_ERR_BODY_TIMEOUT: NO_ANSWER,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: RESET,
  ERR_STREAM_PREMATURE_CLOSE: passing('ANSWER_CUT_OFF', 'sent an answer that is cut off'),
  UND_ERR_HEADERS_OVERFLOW: passing('ANSWER_HEADERS_TOO_LARGE', 'answers with headers that are too large'),
  UND_ERR_DESTROYED: CLOSED,
  UND_ERR_CLOSED: CLOSED,
  CERT_HAS_EXPIRED: setup(
    'TLS_CERTIFICATE',
    'has a certificate that has expired',
    () => 'check the clock of this machine; if it is right, the certificate must be renewed',
  ),
  CERT_NOT_YET_VALID: setup(
    'TLS_CERTIFICATE',
    'has a certificate that is not valid yet',
    () => 'check the clock of this machine',
  ),
  ERR_TLS_CERT_ALTNAME_INVALID: setup(
    'TLS_CERTIFICATE',
    'has a certificate for another name',
    (address) => `check ${address}`,
  ),
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
};

const CERTIFICATE_CODE = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT)/;

/** The `code` of an error, of the first one in a group of attempts, or of its cause; empty when there is none. */
export function networkCode(error: unknown): string {
  const code = errorCode(error);
  if (code !== '' || !(error instanceof Error)) return code;
  if (error instanceof AggregateError) return networkCode(error.errors[0]);
  return networkCode(error.cause);
}

/** Looks up a connection error by its code; with an unknown code, another try may succeed. */
export function explainNetworkError(error: unknown): NetworkError {
  const code = networkCode(error);
  const known = ROWS[code];
  if (known !== undefined) return known;
  if (CERTIFICATE_CODE.test(code)) {
    return setup(
      'TLS_CERTIFICATE',
      `has a certificate that is not trusted (${code})`,
      () =>
        'set NODE_EXTRA_CA_CERTS to the file of its authority, or to that of a company proxy that decrypts TLS',
    );
  }
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) {
    return setup('TLS_PROTOCOL', `accepts no secure connection (${code})`, (address) => `check ${address}`);
  }
  if (code.startsWith('HPE_'))
    return wrongAddress('ANSWER_NOT_HTTP', 'answers with something that is not HTTP');
  return passing('NETWORK_ERROR', `could not be reached${code === '' ? '' : ` (${code})`}`);
}
