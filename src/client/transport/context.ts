/** State shared by all parts of one client, made from its settings, which are checked before anything is sent. */
import { configurationFailure, type Failure } from '../../base/failure.ts';
import type { Http } from '../../base/http.ts';
import { parseProxyAddress } from '../../base/proxy-address.ts';
import { type Optional, withDefaults } from '../../protocol/defaults.ts';
import { authHeaderNames, DEFAULT_HEADER_PREFIX } from '../../protocol/headers.ts';
import type { ClientEvent, Emit } from '../call.ts';
import { type Runtime, SYSTEM_RUNTIME } from '../runtime.ts';
import { createClientHttp, DEFAULT_TIMEOUTS, type Timeouts } from './http.ts';
import type { ProxySettings } from './proxy.ts';
import { type BaseUrl, type Credentials, parseBaseUrl } from './request.ts';
import { createTokenBucket, type TokenBucket } from './retry.ts';
import { createClock, type ServerClock } from './server-time.ts';

export interface ClientOptions {
  /** Ends in `/v1`; https, or http to this machine itself. */
  readonly baseUrl: string;
  readonly key: string;
  readonly secret: string;
  /** Vendor's part of the header names, default `X-Service`. */
  readonly headerPrefix?: string | undefined;
  readonly userAgent?: string | undefined;
  /** Longest Retry-After that is waited for, in milliseconds; default five minutes. */
  readonly maxWaitMs?: number | undefined;
  readonly timeouts?: Optional<Timeouts> | undefined;
  /** Default: no proxy. The environment is for the caller to read. */
  readonly proxy?: ProxySettings | undefined;
  readonly runtime?: Optional<Runtime> | undefined;
  readonly onEvent?: ((event: ClientEvent) => void) | undefined;
}

/** Source: reliability rules of the specification papers: a longer one ends the call instead. */
const DEFAULT_MAX_WAIT_MS = 300_000;

function clientSettingFailure(code: string, message: string, advice: string): Failure {
  return configurationFailure(code, message, advice);
}

function checkCredentials(key: string, secret: string): void {
  const advice = 'Set both with `vloc profile add`, or VLOC_KEY and VLOC_SECRET.';
  // A program may pass a variable that is not set.
  if (!key) throw clientSettingFailure('KEY_MISSING', 'there is no API key', advice);
  if (!secret) throw clientSettingFailure('SECRET_MISSING', 'there is no API secret', advice);
  if (/[\r\n]/.test(secret)) {
    throw clientSettingFailure('SECRET_INVALID', 'the API secret contains a line break', advice);
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw clientSettingFailure(
      'KEY_INVALID',
      'the API key contains a space or a character beyond ASCII',
      advice,
    );
  }
}

function checkPrefix(prefix: string): string {
  if (/^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$/.test(prefix)) return prefix;
  throw clientSettingFailure(
    'HEADER_PREFIX_INVALID',
    'the header prefix is not the beginning of a header name',
    'Write it as X-Service, without the last hyphen.',
  );
}

/** @throws Failure (`configuration`) for an address, a key, a prefix or a proxy that cannot be right */
export function createContext(options: ClientOptions): ClientContext {
  checkCredentials(options.key, options.secret);
  const headerPrefix = checkPrefix(options.headerPrefix ?? DEFAULT_HEADER_PREFIX);
  const { key, secret } = options;
  const base = parseBaseUrl(options.baseUrl);
  return {
    ...createTransferContext(base, options),
    base,
    credentials: { key, secret, names: authHeaderNames(headerPrefix) },
    headerPrefix,
  };
}

function checkProxies(proxy: ProxySettings | undefined): ProxySettings | undefined {
  if (proxy === undefined) return undefined;
  const check = (name: 'http' | 'https') =>
    proxy[name] === '' ? '' : parseProxyAddress(proxy[name], `proxy.${name}`);
  return { ...proxy, http: check('http'), https: check('https') };
}

/** The state of transfers, which need no key. @param base addresses are relative to it, and may be http if it is of this machine */
export function createTransferContext(
  base: TransferContext['base'],
  options: Omit<ClientOptions, 'baseUrl' | 'key' | 'secret' | 'headerPrefix'>,
): TransferContext {
  const runtime = withDefaults(SYSTEM_RUNTIME, options.runtime);
  const timeouts = withDefaults(DEFAULT_TIMEOUTS, options.timeouts);
  const http = createClientHttp({ connectMs: timeouts.connectMs, proxy: checkProxies(options.proxy) });
  return {
    base,
    userAgent: options.userAgent ?? 'vloc',
    runtime,
    clock: createClock(() => runtime.now()),
    bucket: createTokenBucket(),
    maxWaitMs: options.maxWaitMs ?? DEFAULT_MAX_WAIT_MS,
    timeouts,
    emit: options.onEvent ?? (() => {}),
    http,
  };
}

export interface ClientContext extends TransferContext {
  readonly base: BaseUrl;
  readonly credentials: Credentials;
  readonly headerPrefix: string;
}

export interface TransferContext {
  readonly base: Pick<BaseUrl, 'origin' | 'loopback'>;
  readonly userAgent: string;
  readonly runtime: Runtime;
  readonly clock: ServerClock;
  readonly bucket: TokenBucket;
  readonly maxWaitMs: number;
  readonly timeouts: Timeouts;
  readonly emit: Emit;
  readonly http: Http;
}
