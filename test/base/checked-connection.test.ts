import { describe, expect, it } from 'vitest';
import { AddressBlocked, endpointOf, resolvePermitted } from '../../src/base/checked-connection.ts';

/** Resolves the host of a URL. A name has the address of this machine and, if given, another one. */
function resolve(url: string, other?: string): Promise<readonly string[]> {
  const resolver = async () => ['127.0.0.1', ...(other === undefined ? [] : [other])];
  return resolvePermitted(endpointOf(new URL(url)).host, 'private', resolver, undefined);
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

describe('the policy for private networks', () => {
  it.each(PRIVATE)('permits %s', async (host) => {
    await expect(resolve(`http://${host}:8000/v1`)).resolves.toHaveLength(1);
  });

  it.each([...PUBLIC, '134744072', '0x8.0x8.0x8.0x8'])('refuses %s', async (host) => {
    await expect(resolve(`http://${host}:8000/v1`)).rejects.toThrow(AddressBlocked);
  });

  it('permits a name only if all its addresses are private', async () => {
    await expect(resolve('http://asr.lan/', '10.0.0.1')).resolves.toEqual(['127.0.0.1', '10.0.0.1']);
    await expect(resolve('http://asr.lan/', '8.8.8.8')).rejects.toThrow(AddressBlocked);
  });
});
