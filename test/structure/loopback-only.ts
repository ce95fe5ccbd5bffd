/**
 * The suite needs no network: a TCP connection from a test process to anything but this machine fails at once,
 * also where the code under test would have retried it away. Children of tests are not covered.
 */
import { BlockList, isIP, Socket } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

function isLoopback(address: string): boolean {
  return loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** `net.connect` hands its arguments over as one array, `tls.connect` and others as they are. */
function hostOf(parameters: readonly unknown[]): string | null {
  const [first, second] = Array.isArray(parameters[0]) ? parameters[0] : parameters;
  if (typeof first === 'object' && first !== null) {
    return 'host' in first && typeof first.host === 'string' ? first.host : null;
  }
  return typeof second === 'string' ? second : null;
}

function refuse(address: string): Error {
  return new Error(`a test tried to reach ${address}; tests talk to this machine only`);
}

// Files that share a process all load this; the sockets of the first are those of all.
const PLAIN = Symbol.for('vloc.test.plain-connect');
const sockets: { connect: typeof Socket.prototype.connect; [PLAIN]?: typeof Socket.prototype.connect } =
  Socket.prototype;
sockets[PLAIN] ??= Socket.prototype.connect;
const connect = sockets[PLAIN];

function connectHere(this: Socket, ...parameters: unknown[]): Socket {
  const host = hostOf(parameters);
  if (host !== null && isIP(host) !== 0 && !isLoopback(host)) {
    this.destroy(refuse(host));
    return this;
  }
  // A name may be resolved by the test's own lookup, so its addresses are judged, not the name.
  this.on('lookup', (_error, address) => {
    if (isIP(address) !== 0 && !isLoopback(address)) this.destroy(refuse(`${host} (${address})`));
  });
  return Reflect.apply(connect, this, parameters);
}

Socket.prototype.connect = connectHere;
