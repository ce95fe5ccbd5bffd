import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { checkHost, PublicAddress, privateLookup } from '../../../src/engines/backends/private-network.ts';

/** Looks up a name. An address is its own answer, so that no name server is asked. */
function look(name: string, all: boolean): Promise<string | LookupAddress[]> {
  return new Promise((resolve, reject) => {
    privateLookup(name, { all }, (error, address) => (error === null ? resolve(address) : reject(error)));
  });
}

const PRIVATE = [
  ...['127.0.0.1', '127.8.8.8', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.178.20'],
  ...['169.254.1.1', '100.64.0.1', '100.127.255.255', '[::1]', '[::]', '[fd00::1]', '[fe80::1]'],
  ...['[::ffff:10.0.0.1]', '[::ffff:127.0.0.1]'],
];
const PUBLIC = [
  ...['8.8.8.8', '172.32.0.1', '172.15.0.1', '192.169.0.1', '100.128.0.1', '0.0.0.1', '126.255.255.255'],
  ...['[2606:4700::1111]', '[::ffff:8.8.8.8]', '[fec0::1]', '[::2]'],
];

describe('plain http', () => {
  it.each(PRIVATE)('may be used with %s', (host) => {
    expect(() => checkHost(new URL(`http://${host}:8000/v1`))).not.toThrow();
  });

  it.each(PUBLIC)('may not be used with %s', (host) => {
    expect(() => checkHost(new URL(`http://${host}:8000/v1`))).toThrow(PublicAddress);
  });

  it('may not be used with other notations of a public address', () => {
    expect(() => checkHost(new URL('http://134744072/'))).toThrow(PublicAddress);
    expect(() => checkHost(new URL('http://0x8.0x8.0x8.0x8/'))).toThrow(PublicAddress);
  });

  it('may be used with a name of a private address only', async () => {
    await expect(look('localhost', true)).resolves.toContainEqual({ address: '127.0.0.1', family: 4 });
    await expect(look('10.0.0.1', false)).resolves.toBe('10.0.0.1');
    await expect(look('8.8.8.8', true)).rejects.toThrow(PublicAddress);
    await expect(look('8.8.8.8', false)).rejects.toThrow(PublicAddress);
  });
});
