/** The way to a service elsewhere, step by step: name, connection, TLS, HTTP. Nothing here is signed. */
import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { ProxySettings } from '../../client/index.ts';
import { describeNetworkError } from '../../client/transport/describe-error.ts';
import { judgeClock } from './clock.ts';
import type { Finding, Inspect, Result } from './finding.ts';

export interface Way {
  readonly url: URL;
  readonly proxy: ProxySettings | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How long a check may take. */
  readonly limitMs: number;
}

/** Looks at each step while the one before it is right. A service behind a proxy is looked at through it. */
export async function inspectWay(inspect: Inspect, way: Way): Promise<Finding[]> {
  const proxyUrl = proxyFor(way);
  const steps = await inspectSteps(inspect, proxyUrl ?? way.url, proxyUrl === null ? '' : ' of the proxy');
  const proxy = await inspect('proxy', 'network', () => describeProxy(proxyUrl, way.proxy?.noProxy ?? ''));
  if (steps.some(({ grade }) => grade === 'fail')) return [proxy, ...steps];
  return [proxy, ...steps, await inspect('clock', 'configuration', (signal) => askForTime(way, signal))];
}

function proxyFor({ url, proxy }: Way): URL | null {
  const address = url.protocol === 'https:' ? proxy?.https : proxy?.http;
  return address === undefined || address === '' ? null : new URL(address);
}

/** Shows host and port alone: a proxy's address may hold a password. */
function describeProxy(url: URL | null, noProxy: string): Result {
  if (url === null) return { grade: 'ok', message: 'none in use', facts: { proxy: null } };
  const but = noProxy === '' ? '' : `, but not for NO_PROXY: ${noProxy}`;
  return { grade: 'ok', message: `${url.host}${but}`, facts: { proxy: url.host, no_proxy: noProxy } };
}

async function inspectSteps(inspect: Inspect, url: URL, suffix: string): Promise<Finding[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const findings: Finding[] = [];
  if (isIP(host) === 0) {
    findings.push(await inspect(`name lookup${suffix}`, 'network', () => lookUp(host)));
    if (findings.at(-1)?.grade === 'fail') return findings;
  }
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const tcp = await inspect(`connection${suffix}`, 'network', async (signal) => {
    const socket = connectTcp({ host, port });
    await opened(socket, 'connect', signal, url.host);
    return { grade: 'ok', message: `${host} port ${port} takes connections`, facts: { host, port } };
  });
  findings.push(tcp);
  if (tcp.grade === 'fail' || url.protocol !== 'https:') return findings;
  const tls = await inspect(`TLS${suffix}`, 'network', async (signal) => {
    // An address is no name to ask for. Source: RFC 6066, section 3.
    const socket = connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) });
    return opened(socket, 'secureConnect', signal, url.host, describeTls);
  });
  return [...findings, tls];
}

async function lookUp(host: string): Promise<Result> {
  try {
    const found = await lookup(host, { all: true });
    const addresses = found.map(({ address }) => address);
    return { grade: 'ok', message: `${host} is ${addresses.join(', ')}`, facts: { addresses } };
  } catch (error) {
    throw describeNetworkError(error, host).failure;
  }
}

/** Waits for the event and closes the socket; `describe` looks at it in between. */
async function opened<Kind extends Socket>(
  socket: Kind,
  event: string,
  signal: AbortSignal,
  host: string,
  describe: (socket: Kind) => Result = () => ({ grade: 'ok', message: '' }),
): Promise<Result> {
  const onAbort = () => socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => socket.once(event, resolve).once('error', reject));
    return describe(socket);
  } catch (error) {
    throw describeNetworkError(error, host).failure;
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
  }
}

function describeTls(socket: TLSSocket): Result {
  const until = socket.getPeerCertificate().valid_to;
  const protocol = socket.getProtocol();
  return {
    grade: 'ok',
    message: `${protocol}, certificate valid until ${until}`,
    facts: { protocol, valid_to: until },
  };
}

/** Any answer says what time it is; this one is a refusal, since the request has no signature. */
async function askForTime({ url, proxy, now, limitMs }: Way, signal: AbortSignal): Promise<Result> {
  const { createHttp } = await import('../../client/transport/http.ts');
  const http = await createHttp({ connectMs: limitMs, ...(proxy === undefined ? {} : { proxy }) });
  try {
    const sentMs = now();
    const target = `${url.pathname.replace(/\/+$/, '')}/credits`;
    const response = await http.send({
      origin: url.origin,
      target,
      method: 'GET',
      headers: {},
      body: null,
      signal,
    });
    response.discard();
    return judgeClock(response.headers.date, sentMs, now());
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw describeNetworkError(error, url.host).failure;
  } finally {
    await http.close();
  }
}
