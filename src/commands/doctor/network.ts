/** Checks of the connection to a service, step by step: name, TCP, TLS, clock, credentials. */
import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Failure } from '../../base/failure.ts';
import type { ProxySettings } from '../../client/index.ts';
import { createClientHttp } from '../../client/transport/http.ts';
import { describeNetworkError } from '../../client/transport/network-error.ts';
import { chooseProxy, ProxyError } from '../../client/transport/proxy.ts';
import { SKEW_THRESHOLD_MS } from '../../client/transport/server-time.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { connectService } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import { CHECK_LIMIT_MS, type CheckReport, type CheckResult, type RunCheck } from './findings.ts';

interface Route {
  readonly url: URL;
  readonly proxy: ProxySettings | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How long a check may take. */
  readonly limitMs: number;
}

/** Checks step by step until one fails; through the proxy if one is in use. */
export async function checkConnection(runCheck: RunCheck, way: Route): Promise<CheckReport[]> {
  const chosen = way.proxy === undefined ? null : chooseProxy(way.url, way.proxy);
  const proxyUrl = chosen === null ? null : new URL(chosen);
  const steps = await checkSteps(runCheck, proxyUrl ?? way.url, proxyUrl === null ? '' : ' of the proxy');
  const proxy = await runCheck('proxy', 'network', () => describeProxy(proxyUrl, way.proxy?.noProxy ?? ''));
  if (steps.some(({ grade }) => grade === 'fail')) return [proxy, ...steps];
  return [proxy, ...steps, await runCheck('clock', 'configuration', (signal) => checkClock(way, signal))];
}

/** Shows host and port alone: a proxy's address may hold a password. */
function describeProxy(url: URL | null, noProxy: string): CheckResult {
  if (url === null) return { grade: 'ok', message: 'none in use', facts: { proxy: null } };
  const but = noProxy === '' ? '' : `, but not for NO_PROXY: ${noProxy}`;
  return { grade: 'ok', message: `${url.host}${but}`, facts: { proxy: url.host, no_proxy: noProxy } };
}

async function checkSteps(runCheck: RunCheck, url: URL, suffix: string): Promise<CheckReport[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const explain = (error: unknown) =>
    describeNetworkError(suffix === '' ? error : new ProxyError(url.host, null, { cause: error }), url.host)
      .failure;
  const findings: CheckReport[] = [];
  if (isIP(host) === 0) {
    findings.push(await runCheck(`name lookup${suffix}`, 'network', () => lookUp(host, explain)));
    if (findings.at(-1)?.grade === 'fail') return findings;
  }
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const tcp = await runCheck(`connection${suffix}`, 'network', async (signal) => {
    const socket = connectTcp({ host, port });
    await opened(socket, 'connect', signal, explain);
    return { grade: 'ok', message: `${host} port ${port} accepts connections`, facts: { host, port } };
  });
  findings.push(tcp);
  if (tcp.grade === 'fail' || url.protocol !== 'https:') return findings;
  const tls = await runCheck(`TLS${suffix}`, 'network', async (signal) => {
    // IP addresses are not allowed as server names. Source: RFC 6066, section 3.
    const socket = connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) });
    return opened(socket, 'secureConnect', signal, explain, describeTls);
  });
  return [...findings, tls];
}

type Explain = (error: unknown) => Failure;

async function lookUp(host: string, explain: Explain): Promise<CheckResult> {
  try {
    const found = await lookup(host, { all: true });
    const addresses = found.map(({ address }) => address);
    return { grade: 'ok', message: `${host} is ${addresses.join(', ')}`, facts: { addresses } };
  } catch (error) {
    throw explain(error);
  }
}

/** Waits for the event, lets `describe` examine the socket, and closes it. */
async function opened<Kind extends Socket>(
  socket: Kind,
  event: string,
  signal: AbortSignal,
  explain: Explain,
  describe: (socket: Kind) => CheckResult = () => ({ grade: 'ok', message: '' }),
): Promise<CheckResult> {
  const onAbort = () => socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => socket.once(event, resolve).once('error', reject));
    return describe(socket);
  } catch (error) {
    throw explain(error);
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
  }
}

function describeTls(socket: TLSSocket): CheckResult {
  const until = socket.getPeerCertificate().valid_to;
  const protocol = socket.getProtocol();
  return {
    grade: 'ok',
    message: `${protocol}, certificate valid until ${until}`,
    facts: { protocol, valid_to: until },
  };
}

/** Compares clocks by the `Date` header of an unsigned request, which the service rejects. */
async function checkClock({ url, proxy, now, limitMs }: Route, signal: AbortSignal): Promise<CheckResult> {
  const http = createClientHttp({ connectMs: limitMs, proxy });
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
    return compareClocks(response.headers.date, sentMs, now());
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw describeNetworkError(error, url.host).failure;
  } finally {
    await http.close();
  }
}

/**
 * Compares the clocks by the `Date` header of a response, which has whole seconds.
 * @param sentMs when the request left, `receivedMs` when the answer came; milliseconds since 1970
 */
export function compareClocks(date: string | undefined, sentMs: number, receivedMs: number): CheckResult {
  const serviceMs = Date.parse(date ?? '');
  if (Number.isNaN(serviceMs)) return { grade: 'warn', message: 'the service does not report its time' };
  // The header is truncated to seconds and was written between sending and receiving.
  const seconds = Math.round(((sentMs + receivedMs) / 2 - (serviceMs + 500)) / 1000);
  const facts = { ahead_seconds: seconds };
  const away = Math.abs(seconds);
  if (away === 0) return { grade: 'ok', message: 'agrees with the service to the second', facts };
  const message = `${away} s ${seconds > 0 ? 'ahead of' : 'behind'} the service`;
  const fix = 'Set the clock by the network: `timedatectl set-ntp true` or the settings of the system.';
  if (away > LIMITS.timestampSkewSeconds) return { grade: 'fail', message, fix, facts };
  return away * 1000 > SKEW_THRESHOLD_MS
    ? { grade: 'warn', message, fix, facts }
    : { grade: 'ok', message, facts };
}

/** Time to report why there is no answer. */
const LAST_WORDS_MS = 500;

/** Reads the balance; changes nothing. */
export async function checkCredentials(context: Context, signal: AbortSignal): Promise<CheckResult> {
  const begun = context.io.now();
  const connection = await connectService(context);
  try {
    // Shortly before the check times out, so that the client reports the cause.
    const deadline = begun + (context.io.checkMs ?? CHECK_LIMIT_MS) - LAST_WORDS_MS;
    const { available_credits: available } = await connection.client.credits.balance({ signal, deadline });
    const ms = context.io.now() - begun;
    return {
      grade: 'ok',
      message: `accepted; ${available} credits available`,
      facts: { available_credits: available, answered_in_ms: ms },
    };
  } finally {
    await connection.close();
  }
}
