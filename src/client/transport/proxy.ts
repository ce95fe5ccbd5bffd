/** Decides whether a request goes through a proxy. */
import { BlockList, isIP } from 'node:net';
import { isLoopback } from '../../protocol/loopback.ts';

export interface ProxySettings {
  /** Address of the proxy for http and for https; an empty text means none. */
  readonly http: string;
  readonly https: string;
  /** Hosts reached without it, separated by commas: `host`, `.suffix`, `*.suffix`, `host:port`, `10.0.0.0/8`, `*` for all. */
  readonly noProxy: string;
  /** Default false: requests to this machine itself use no proxy. */
  readonly loopback?: boolean | undefined;
}

/** The proxy for an origin, null for a direct connection. As in curl, a bare host includes its subdomains. */
export function chooseProxy(origin: URL, settings: ProxySettings): string | null {
  const proxy = origin.protocol === 'https:' ? settings.https : settings.http;
  if (proxy === '') return null;
  if (isLoopback(origin) && settings.loopback !== true) return null;
  const rules = settings.noProxy.split(/[\s,]+/).filter((rule) => rule !== '');
  return rules.some((rule) => isExempt(origin, rule.toLowerCase())) ? null : proxy;
}

function isExempt(origin: URL, rule: string): boolean {
  if (rule === '*') return true;
  const name = origin.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (rule.includes('/')) return isInNetwork(name, rule);
  const { host, port } = splitPort(rule);
  if (port !== null && port !== portOf(origin)) return false;
  const suffix = host.replace(/^\*?\./, '');
  return name === suffix || name.endsWith(`.${suffix}`);
}

/** A host name is not looked up, so it is in no network. As in curl, a network that is written wrongly contains nothing. */
function isInNetwork(name: string, rule: string): boolean {
  const [network = '', bits = ''] = rule.split('/', 2);
  if (isIP(name) === 0 || isIP(network) === 0 || !/^\d+$/.test(bits)) return false;
  if (Number(bits) > (isIP(network) === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), familyOf(network));
  return list.check(name, familyOf(name));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** An IPv6 address contains colons; with a port it is in brackets. */
function splitPort(rule: string): { host: string; port: string | null } {
  const bracketed = /^\[([^\]]*)\](?::(\d+))?$/.exec(rule);
  if (bracketed !== null) return { host: bracketed[1] ?? '', port: bracketed[2] ?? null };
  const parts = /^([^:]*):(\d+)$/.exec(rule);
  return parts === null ? { host: rule, port: null } : { host: parts[1] ?? '', port: parts[2] ?? null };
}

function portOf({ port, protocol }: URL): string {
  if (port !== '') return port;
  return protocol === 'https:' ? '443' : '80';
}

/** The proxy could not be reached, or refused the tunnel; `status` is its answer, null without one. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  /** Host and port, never a password. */
  readonly proxy: string;
  readonly status: number | null;

  constructor(proxy: string, status: number | null, options?: ErrorOptions) {
    super(`proxy ${proxy}${status === null ? '' : ` answered ${status}`}`, options);
    this.proxy = proxy;
    this.status = status;
  }
}
