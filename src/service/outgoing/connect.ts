/**
 * Connections to addresses that were checked before. The library that speaks HTTP is handed a finished socket, so that it
 * looks nothing up: its `lookup` hook is passed over for addresses in numbers.
 */
import { connect, isIP, type Socket } from 'node:net';
import { isSameAddress } from './addresses.ts';
import { describeNetworkError, TargetBlocked, TargetUnreachable } from './failures.ts';

/** Begins a TCP connection. */
export type Dial = (address: string, port: number) => Socket;

/** No name ever gets here, so nothing is resolved a second time. */
export const systemDial: Dial = (address, port) => connect({ host: address, port });

export interface Endpoint {
  /** As the certificate must name it: a name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** All of them permitted; tried in order. */
  readonly addresses: readonly string[];
}

/** 10 s for one address: three lost packets, and the next address still gets its turn. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Connects to the first address that answers; with TLS when the endpoint is secure.
 * @throws TargetBlocked when the socket leads elsewhere than it was told, TargetUnreachable, the signal's reason
 */
export async function openConnection(endpoint: Endpoint, dial: Dial, signal: AbortSignal): Promise<Socket> {
  let failure: unknown = new TargetUnreachable('its name has no address');
  for (const address of endpoint.addresses) {
    signal.throwIfAborted();
    try {
      return await openOne(endpoint, address, dial, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof TargetBlocked) throw error;
      failure = new TargetUnreachable(describeNetworkError(error), { cause: error });
    }
  }
  throw failure;
}

async function openOne(
  endpoint: Endpoint,
  address: string,
  dial: Dial,
  signal: AbortSignal,
): Promise<Socket> {
  // Loaded here: a start would pay a twentieth of its time for it, and most services call nobody. Before there is a socket,
  // since nobody would listen to its errors meanwhile.
  const tls = endpoint.isSecure ? await import('node:tls') : null;
  const socket = dial(address, endpoint.port);
  try {
    await arrival(socket, 'connect', signal);
    // Nothing has been sent: whatever the socket was led astray by, it ends here.
    if (!isSameAddress(socket.remoteAddress ?? '', address)) {
      throw new TargetBlocked('the connection led to another address than the one that was checked');
    }
    if (tls === null) return socket;
    // An address is no server name in TLS (RFC 6066), but the certificate is compared with it all the same.
    const name = isIP(endpoint.host) === 0 ? { servername: endpoint.host } : {};
    const secured = tls.connect({ socket, host: endpoint.host, ALPNProtocols: ['http/1.1'], ...name });
    await arrival(secured, 'secureConnect', signal);
    return secured;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function arrival(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      socket.setTimeout(0);
      socket.off(event, arrive).off('error', fail).off('close', close).off('timeout', expire);
      signal.removeEventListener('abort', stop);
      end();
    };
    const abandon = (error: unknown) => {
      // A socket that is being destroyed may still report, and nobody listens any more.
      socket.on('error', () => {});
      settle(() => reject(error));
      socket.destroy();
    };
    const arrive = () => settle(resolve);
    const fail = (error: Error) => abandon(error);
    const close = () => abandon(Object.assign(new Error('closed'), { code: 'ECONNRESET' }));
    const expire = () => abandon(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' }));
    const stop = () => abandon(signal.reason);
    socket.once(event, arrive).once('error', fail).once('close', close).once('timeout', expire);
    socket.setTimeout(CONNECT_TIMEOUT_MS);
    signal.addEventListener('abort', stop, { once: true });
  });
}
