/** Why a call to the outside did not come about. Messages hold no address that a name was resolved to. */
import { errorCode } from '../../errors/system-error.ts';

/** The policy forbids it: nothing was sent, and trying again will not help unless the target changes. */
export class TargetBlocked extends Error {
  override readonly name = 'TargetBlocked';
}

/** The target did not answer as it should; another attempt may succeed. */
export class TargetUnreachable extends Error {
  override readonly name = 'TargetUnreachable';
}

/** Words for what Node reports; its own messages would name resolved addresses and ports. */
const WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name could not be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  ETIMEDOUT: 'the connection was not made in time',
  EHOSTUNREACH: 'the network does not lead there',
  ENETUNREACH: 'the network does not lead there',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'nobody trusted vouches for its certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'nobody trusted vouches for its certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'nobody trusted vouches for its certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'nobody trusted vouches for its certificate',
};

/** Says in words fit for a caller why a connection or a transfer failed. */
export function describeNetworkError(error: unknown): string {
  const code = errorCode(error);
  if (code.startsWith('HPE_')) return 'its answer is not HTTP';
  return WORDS[code] ?? 'the connection failed';
}
