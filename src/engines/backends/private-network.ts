/** Where plain http may be used: on this machine and in private networks. */
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

const SUBNETS: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['127.0.0.0', 8, 'ipv4'],
  ['::1', 128, 'ipv6'],
  // Servers print these as their own address, and connections to them stay on the machine.
  ['0.0.0.0', 32, 'ipv4'],
  ['::', 128, 'ipv6'],
  // RFC 1918 and RFC 4193
  ['10.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['fc00::', 7, 'ipv6'],
  // Link-local: RFC 3927 and RFC 4291
  ['169.254.0.0', 16, 'ipv4'],
  ['fe80::', 10, 'ipv6'],
  // RFC 6598: private overlays such as Tailscale number their machines here. It is not routed on the internet.
  ['100.64.0.0', 10, 'ipv4'],
];

const PRIVATE = new BlockList();
for (const subnet of SUBNETS) PRIVATE.addSubnet(...subnet);

/** Returns whether an address is of this machine or of a private network. IPv4 within IPv6 counts as IPv4. */
function isPrivateAddress(address: string): boolean {
  const [bare = ''] = address.split('%', 1); // without the zone of a link-local address
  return PRIVATE.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4');
}

/** Plain http would leave the private network. Nothing was sent. */
export class PublicAddress extends Error {}

/** Checks a host that is an address: it will not be looked up. @throws PublicAddress */
export function checkHost(url: URL): void {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0 && !isPrivateAddress(host)) throw new PublicAddress();
}

/** Looks up a name for plain http. The connection goes to an address that was checked. */
export const privateLookup: LookupFunction = (name, options, callback) => {
  lookup(name, { ...options, all: true }, (error, found) => {
    const addresses: LookupAddress[] = error === null ? found : [];
    const [first] = addresses;
    if (error !== null) callback(error, []);
    else if (first === undefined || !addresses.every(({ address }) => isPrivateAddress(address))) {
      callback(new PublicAddress(), []);
    } else if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
