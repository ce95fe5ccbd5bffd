/** Decides whether a request goes through a proxy, and explains the errors of proxies. */
import { errorCode } from '../../base/system-error.ts';
import { isLoopback } from '../../protocol/loopback.ts';

export interface ProxySettings {
  /** Address of the proxy for http and for https; an empty text means none. */
  readonly http: string;
  readonly https: string;
  /** Hosts reached without it, separated by commas: `host`, `.suffix`, `*.suffix`, `host:port`, `*` for all. */
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
  const { host, port } = splitPort(rule);
  if (port !== null && port !== portOf(origin)) return false;
  const suffix = host.replace(/^\*?\./, '');
  const name = origin.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return name === suffix || name.endsWith(`.${suffix}`);
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

  constructor(proxy: string, status: number | null, options: ErrorOptions) {
    super(`proxy ${proxy}${status === null ? '' : ` answered ${status}`}`, options);
    this.proxy = proxy;
    this.status = status;
  }
}

/** Through a tunnel the far end's own trouble arrives as an answer of the proxy, so these are of the way to the proxy. */
const ON_THE_WAY = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
]);

/** The error of a request that went through a proxy; the proxy's own faults become a ProxyError. */
export function describeProxyError(error: unknown, proxy: string): unknown {
  if (!(error instanceof Error)) return error;
  const { host } = new URL(proxy);
  const status = /^Proxy response \((\d+)\)/.exec(error.message)?.[1];
  if (status !== undefined) return new ProxyError(host, Number(status), { cause: error });
  const code = errorCode(error);
  return ON_THE_WAY.has(code) ? new ProxyError(host, null, { cause: error }) : error;
}
