/**
 * The suite needs no network. A TCP connection from a test process to anything but this machine fails immediately, even
 * if the code under test would retry it. Children of tests are not covered.
 */
import { BlockList, isIP, Socket } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

function isLoopback(address: string): boolean {
  return loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** `net.connect` passes its arguments as one array, `tls.connect` and others pass them unchanged. */
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

// All files that share a process load this module, so the original function is stored only once.
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
  // A name may be resolved by the test's own lookup, so its addresses are checked, not the name.
  this.on('lookup', (_error, address) => {
    if (isIP(address) !== 0 && !isLoopback(address)) this.destroy(refuse(`${host} (${address})`));
  });
  return Reflect.apply(connect, this, parameters);
}

Socket.prototype.connect = connectHere;
