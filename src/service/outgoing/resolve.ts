/** From the name of a target to the addresses that may be connected to. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isLoopbackAddress, isPublicAddress } from './addresses.ts';
import { describeNetworkError, TargetBlocked, TargetUnreachable } from './failures.ts';
import { isLoopbackHost, type UrlPolicy } from './url-policy.ts';

/** Gives all addresses of a name; aliases are followed by whoever answers. */
export type Resolver = (name: string) => Promise<readonly string[]>;

/** Asks the system, so that its hosts file and its servers count. */
export const systemResolver: Resolver = async (name) => {
  const answers = await lookup(name, { all: true, order: 'verbatim' });
  return answers.map(({ address }) => address);
};

/**
 * The addresses of a host, every one of them permitted: a name with one good and one bad address is refused whole, since
 * nobody but an attacker has one.
 * @param host name, or address without brackets
 * @throws TargetBlocked, TargetUnreachable; the signal's reason
 */
export async function resolveHost(
  host: string,
  parts: { readonly policy: UrlPolicy; readonly resolver: Resolver; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const { policy, resolver, signal } = parts;
  const addresses = isIP(host) === 0 ? await ask(host, resolver, signal) : [host];
  const isPermitted = (address: string) =>
    // What means this machine by its name may be called over http, so it must not lead anywhere else.
    (isPublicAddress(address) && !isLoopbackHost(host)) ||
    (policy.allowLoopback && isLoopbackAddress(address));
  if (!addresses.every(isPermitted)) throw new TargetBlocked('its name leads into a private network');
  return addresses;
}

async function ask(name: string, resolver: Resolver, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const addresses = await untilAborted(resolver(name), signal);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    signal.throwIfAborted();
    throw new TargetUnreachable(describeNetworkError(error), { cause: error });
  }
  throw new TargetUnreachable('its name has no address');
}

/** A look-up cannot be called off; its answer is no longer waited for. */
function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
