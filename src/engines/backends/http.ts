/**
 * Calls the servers of backends over HTTP. Follows no redirect, limits the size and the time of each answer, retries
 * what may pass, and uses plain http in private networks only. Bodies and keys appear in no message.
 */
import * as v from 'valibot';
import { AddressBlocked, endpointOf, openChecked } from '../../base/checked-connection.ts';
import { BodyTooLarge, collectBody, collectStart, type HttpResponse } from '../../base/http.ts';
import { createHttp } from '../../base/http-client.ts';
import { explainNetworkError } from '../../base/network-error.ts';
import { askedDelay, backoffDelay, retryAfterOf } from '../../base/retry.ts';
import { errorCode } from '../../base/system-error.ts';
import type { EngineRun } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import type { TypedEntry } from '../config.ts';
import { createKey } from './key.ts';
import type { BackendParts } from './parts.ts';
import { isWebPage, readError } from './server-errors.ts';

/** The part of an entry that describes its server. */
type ServerEntry = Pick<TypedEntry<'translate', 'libretranslate'>, 'url' | 'key' | 'insecure' | 'timeout'>;

/** The server understood the request and refused it (4xx). The same request would be refused again. */
export class ServerRefusal extends JobFailure {
  readonly status: number;
  /** The server's own message, shortened. */
  readonly said: string;

  constructor(message: string, status: number, said: string) {
    super('ENGINE_ERROR', message, { permanent: true });
    this.status = status;
    this.said = said;
  }
}

interface Body {
  /** Media type. */
  readonly type: string;
  readonly bytes: number;
  /** Called for each try. */
  readonly open: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export interface Outgoing {
  /** Appended to the address of the server. */
  readonly path: string;
  /** With a body, the method is POST; without, GET. */
  readonly body?: Body;
  /** Returns whether a server error (5xx) with this message would come again, so that it is not retried. */
  readonly isRefusal?: (said: string) => boolean;
}

interface Answer {
  /** Media type in lower case, without parameters. */
  readonly type: string;
  readonly body: Buffer;
}

export interface Server {
  /** Reads the key of the entry; null if it has none. */
  key(run: EngineRun): Promise<string | null>;
  /** @throws ServerRefusal, JobFailure, or the signal's reason */
  send(outgoing: Outgoing, maxBytes: number, run: EngineRun): Promise<Answer>;
  /** Sends a request and reads the answer as JSON of up to 8 MiB. @throws as `send` */
  sendForJson<Schema extends v.GenericSchema>(
    outgoing: Outgoing,
    schema: Schema,
    run: EngineRun,
  ): Promise<v.InferOutput<Schema>>;
  /** Sends a request and reads the answer as text of up to 8 MiB. @throws as `send` */
  sendForText(outgoing: Outgoing, run: EngineRun): Promise<string>;
  /** Returns a failure whose message begins with the name of the backend. */
  failure(message: string, options?: { permanent?: boolean }): JobFailure;
  /** Passes a remark to the user, once. */
  warn(message: string): void;
  /** Closes idle connections. */
  close(): void;
}

/** Returns a body of JSON. */
export function jsonBody(value: unknown): Body {
  const content = Buffer.from(JSON.stringify(value));
  return { type: 'application/json', bytes: content.length, open: () => [content] };
}

/** A transcript of 15 minutes with times of words has half a megabyte. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;
/** Enough for the message of an error. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Most characters of a server's message that are shown. */
const MAX_SAID = 300;
/** A server that restarts loads its model for about a minute: the ten pauses take 56 s on average. */
const TRIES = 11;
/** The most that one `Retry-After` can ask for. */
const LONGEST_PAUSE_MS = 60_000;
/** The most that all pauses of a request take together. */
const LONGEST_WAIT_MS = 120_000;
/** 10 s: enough for three lost packets. A machine that is switched off does not refuse a connection. */
const CONNECT_MS = 10_000;
/** A call that takes longer is reported with its limit: until then a person does not think of a server that hangs. */
const PATIENCE_MS = 30_000;
const CHECK_SERVER = 'check that the server runs, and "url" of this engine in engines.json';

interface ServerOptions {
  /** Name of the backend. */
  readonly name: string;
  /** Seconds until a call fails, if the entry has no time. */
  readonly timeout: number;
  /** Where the server wants the key: in the header, or where the caller puts it. */
  readonly keyIn: 'header' | 'caller';
}

/** Why a try failed, if another may succeed. */
interface Setback {
  readonly what: string;
  readonly advice: string;
  /** Milliseconds requested by the server in `Retry-After`. */
  readonly pauseMs: number | null;
}

/** Creates the client of one server. Opens no connection before the first request. */
export function createServer(entry: ServerEntry, options: ServerOptions, parts: BackendParts): Server {
  const { name } = options;
  const address = new URL(entry.url);
  const { host } = address;
  const isSecure = address.protocol === 'https:';
  const timeoutSeconds = Math.min(
    entry.timeout ?? options.timeout,
    parts.mostSeconds ?? Number.POSITIVE_INFINITY,
  );
  const http = createHttp({
    connectMs: CONNECT_MS,
    // Plain http stays on this machine and in private networks.
    connect:
      isSecure || entry.insecure === true
        ? undefined
        : (url, signal) => openChecked(endpointOf(url), 'private', signal),
  });
  const key = createKey(entry.key, name, parts);
  const warned = new Set<string>();

  const failure: Server['failure'] = (message, choice) =>
    new JobFailure('ENGINE_ERROR', `${name}: ${message}`, choice);

  function warn(message: string): void {
    if (warned.has(message)) return;
    warned.add(message);
    parts.warn(`${name}: ${message}`);
  }

  async function send(outgoing: Outgoing, maxBytes: number, run: EngineRun): Promise<Answer> {
    let waited = 0;
    for (let attempt = 1; ; attempt += 1) {
      run.signal.throwIfAborted();
      const outcome = await tryOnce(outgoing, maxBytes, run);
      if ('body' in outcome) return outcome;
      const pause =
        outcome.pauseMs === null
          ? backoffDelay(attempt, Math.random)
          : askedDelay(outcome.pauseMs, LONGEST_PAUSE_MS, Math.random);
      if (attempt === (parts.tries ?? TRIES) || waited + pause > LONGEST_WAIT_MS) {
        const often = attempt === 1 ? '' : ` (${attempt} tries)`;
        throw failure(`${outcome.what}${often}; ${outcome.advice}`);
      }
      warn(`${outcome.what}; trying again for up to two minutes`);
      waited += pause;
      await parts.sleep(pause, run.signal);
    }
  }

  async function tryOnce(outgoing: Outgoing, maxBytes: number, run: EngineRun): Promise<Answer | Setback> {
    const value = await key.read(run);
    const headers = { ...(value !== null && options.keyIn === 'header' ? bearer(value) : {}) };
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutSeconds * 1000);
    const notice = setTimeout(
      () =>
        warn(
          `${host} has not answered for ${PATIENCE_MS / 1000} s; waiting for up to ${timeoutSeconds} s ("timeout" of this engine in engines.json)`,
        ),
      PATIENCE_MS,
    );
    try {
      return await converse(outgoing, headers, maxBytes, AbortSignal.any([run.signal, limit.signal]));
    } catch (error) {
      run.signal.throwIfAborted();
      if (error instanceof JobFailure) throw error;
      if (limit.signal.aborted) {
        throw failure(
          `${host} did not answer within ${timeoutSeconds} s; check that the server works, or raise "timeout" of this engine in engines.json`,
        );
      }
      if (errorCode(error) === '' && !(error instanceof AddressBlocked)) throw error;
      return judgeFault(error);
    } finally {
      clearTimeout(timer);
      clearTimeout(notice);
    }
  }

  async function converse(
    outgoing: Outgoing,
    headers: Record<string, string>,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Answer | Setback> {
    const response = await exchange(outgoing, headers, signal);
    const { status } = response;
    try {
      if (status >= 200 && status < 300) {
        return { type: mediaType(response), body: await collectBody(response, maxBytes) };
      }
      const text = (await collectStart(response, MAX_ERROR_BYTES)).toString('utf8');
      return judgeStatus(status, response, text, outgoing);
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) throw error;
      const most = `${maxBytes / 1024 / 1024} MiB`;
      const message = `${host} answered with more than ${most}; check that "url" of this engine in engines.json is right`;
      throw failure(message, { permanent: true });
    } finally {
      // The server may answer before it has read the whole request.
      response.discard();
    }
  }

  /** Sends a request, and once more without a pause if the connection is dropped: an idle one, which the server has just closed. */
  async function exchange(
    outgoing: Outgoing,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const { body, path } = outgoing;
    const content =
      body === undefined ? {} : { 'content-type': body.type, 'content-length': String(body.bytes) };
    const sendOnce = () =>
      http.send({
        origin: address.origin,
        target: `${address.pathname.replace(/\/+$/, '')}${path}${address.search}`,
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'user-agent': 'vloc', accept: '*/*', ...content, ...headers },
        body: body?.open() ?? null,
        signal,
      });
    return sendOnce().catch((error: unknown) => {
      if (signal.aborted || explainNetworkError(error).code !== 'CONNECTION_RESET') throw error;
      return sendOnce();
    });
  }

  function judgeFault(error: unknown): Setback {
    if (error instanceof AddressBlocked) {
      const message = `${host} is outside this machine and private networks, and "url" begins with http://, so others could read what is sent; use https://, or set "insecure": true for this engine in engines.json`;
      throw failure(message, { permanent: true });
    }
    const { what, kind, advice } = explainNetworkError(error);
    const text = advice?.('"url" of this engine in engines.json') ?? CHECK_SERVER;
    if (kind !== 'passing') throw failure(`${host} ${what}; ${text}`, { permanent: true });
    return { what: `${host} ${what}`, advice: text, pauseMs: null };
  }

  function judgeStatus(
    status: number,
    response: HttpResponse,
    text: string,
    { isRefusal }: Outgoing,
  ): Setback {
    const { said, code } = readError(text);
    const shown = key.hide(said).slice(0, MAX_SAID);
    const what = `${host} answered with ${status}${shown === '' ? '' : ` (${shown})`}`;
    if (status >= 300 && status < 400) {
      const message = `${host} redirects to ${originOf(response.headers.location, address)}; redirects are not followed, because the key would be sent along. Set "url" of this engine in engines.json to the final address`;
      throw failure(message, { permanent: true });
    }
    // An account without money has the status of too many requests.
    const isBusy = status === 429 && !/quota|billing|credit/i.test(code);
    if (isBusy || status === 408 || (status >= 500 && !(isRefusal?.(shown) ?? false))) {
      const advice = isBusy
        ? 'lower "concurrency" of this engine in engines.json, or wait'
        : 'see the log of the server';
      return { what, advice, pauseMs: retryAfterOf(response.headers, Date.now()) };
    }
    throw new ServerRefusal(`${name}: ${what}; ${adviceFor(status)}`, status, shown);
  }

  function adviceFor(status: number): string {
    if (status === 401 || status === 403) return key.advice;
    if (status === 429) return 'check the account at the provider';
    if (status === 413) return 'raise the limit of the server for uploads';
    if (status !== 404 && status !== 405) return 'check the settings of this engine in engines.json';
    const version = /\/v\d/.test(address.pathname) ? '' : ' (the address of most servers ends with /v1)';
    return `check "url" and "model" of this engine in engines.json${version}`;
  }

  async function sendForText(outgoing: Outgoing, run: EngineRun): Promise<string> {
    const answer = await send(outgoing, MAX_TEXT_BYTES, run);
    const text = answer.body.toString('utf8');
    if (answer.type !== 'text/html' && !isWebPage(text)) return text;
    const message = `${host} answered with a web page; check "url" of this engine in engines.json, and whether a proxy or a login page is in between`;
    throw failure(message, { permanent: true });
  }

  return {
    key: key.read,
    send,
    sendForText,
    async sendForJson(outgoing, schema, run) {
      const text = await sendForText(outgoing, run);
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        throw failure(`${host} answered with invalid JSON; see the log of the server`);
      }
      const parsed = v.safeParse(schema, value);
      if (parsed.success) return parsed.output;
      const place = v.getDotPath(parsed.issues[0]);
      const { said, isNamed } = readError(text);
      const why = isNamed
        ? key.hide(said).slice(0, MAX_SAID)
        : `${place ?? 'its outermost value'} is missing or wrong`;
      throw failure(
        `${host} answered with unexpected JSON (${why}); check "url" of this engine in engines.json`,
      );
    },
    failure,
    warn,
    close: () => void http.close(),
  };
}

function bearer(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}

function mediaType(response: HttpResponse): string {
  return (response.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function originOf(location: string | undefined, base: URL): string {
  const url = URL.parse(location ?? '', base.href);
  return url === null ? 'an invalid address' : url.origin;
}
