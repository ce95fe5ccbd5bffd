import { type Environment, withoutSecrets } from '../../profiles/environment.ts';
import type { Output } from '../context/context.ts';
/** Handles a webhook delivery: verifies it, detects duplicates, forwards and reports it. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jobFailure } from '../../base/failure.ts';
import type { Forwarder, ForwardResult } from '../../client/webhooks/forward.ts';
import {
  judgeWebhook,
  readEvent,
  type WebhookCheck,
  type WebhookEvent,
} from '../../client/webhooks/verify-webhook.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { WebhookLayout } from '../../protocol/webhook-signature.ts';
import { type Caller, writeCommand } from '../context/printed-command.ts';
import type { VerificationRules } from './rules.ts';

/** A verified event, at its first accepted delivery. */
export interface ReceivedEvent extends WebhookEvent {
  readonly id: string;
  readonly layout: WebhookLayout;
  /** HTTP status of the forward target; null without forwarding. */
  readonly forwardedStatus: number | null;
  /** The raw text. */
  readonly body: Buffer;
}

/** The result of a delivery. */
export type WebhookReport =
  | { readonly type: 'event'; readonly event: ReceivedEvent }
  | { readonly type: 'duplicate'; readonly id: string }
  | { readonly type: 'refused'; readonly check: WebhookCheck; readonly message: string }
  | {
      readonly type: 'not_forwarded';
      readonly id: string;
      readonly status: number | null;
      readonly message: string;
    };

interface ReceiverParts {
  readonly rules: VerificationRules;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly forwarder: Forwarder | null;
  readonly report: (report: WebhookReport) => void;
}

/** Ids kept for finding duplicates: a day of events, one every ten seconds, in about a megabyte. */
const REMEMBERED = 10_000;

/** Makes the function that answers deliveries. Source: specification, "Events" (receiver rules). */
export function createReceiver(parts: ReceiverParts): (delivery: WebhookDelivery) => Promise<WebhookReply> {
  const { rules, now, report } = parts;
  /** By event id; a second delivery waits for the first. */
  const seen = new Map<string, Promise<WebhookReply>>();
  return async (delivery) => {
    const verdict = judgeWebhook(delivery, { ...rules, now: now() });
    if (!verdict.valid) {
      const { check, message } = verdict;
      report({ type: 'refused', check, message });
      return { status: check === 'form' ? 400 : 401, text: message };
    }
    const { eventId: id, layout } = verdict;
    const before = seen.get(id);
    if (before !== undefined) {
      const answer = await before;
      if (answer.status === OK) report({ type: 'duplicate', id });
      return answer;
    }
    const first = acceptEvent(delivery, id, layout, parts);
    remember(seen, id, first);
    const answer = await first;
    // Not accepted: the next delivery is not a duplicate.
    if (answer.status !== OK) seen.delete(id);
    return answer;
  };
}

const OK = 200;
const BAD_GATEWAY = 502;

function remember(seen: Map<string, Promise<WebhookReply>>, id: string, answer: Promise<WebhookReply>): void {
  seen.set(id, answer);
  const [oldest] = seen.keys();
  if (seen.size > REMEMBERED && oldest !== undefined) seen.delete(oldest);
}

async function acceptEvent(
  { body, rawHeaders }: WebhookDelivery,
  id: string,
  layout: WebhookLayout,
  { forwarder, report }: ReceiverParts,
): Promise<WebhookReply> {
  const forwarded: ForwardResult | null =
    forwarder === null ? null : await forwarder.forward(body, rawHeaders);
  if (forwarded !== null && !forwarded.ok) {
    const { status, reason } = forwarded;
    report({ type: 'not_forwarded', id, status, message: reason });
    return { status: BAD_GATEWAY, text: reason };
  }
  const event = { ...readEvent(body), id, layout, body, forwardedStatus: forwarded?.status ?? null };
  report({ type: 'event', event });
  return { status: OK, text: 'received' };
}

/** The id in a bare id, `kind/id` or `detail_url`. */
export function idOfReference(reference: string): string {
  return reference.trim().replace(/\/+$/, '').split('/').at(-1) ?? '';
}

/** True if the event reports the end of the job. */
export function isEndOf(event: ReceivedEvent, jobId: string): boolean {
  const { id, status } = event.job;
  return id === jobId && status !== null && isTerminal(status);
}

/** @throws Failure (`job`) for a job that has not succeeded */
export function checkSuccess({ job }: ReceivedEvent, caller: Caller): void {
  if (job.status === 'succeeded') return;
  const jobId = job.id ?? '';
  const reference = job.kind === null ? jobId : `${job.kind}/${jobId}`;
  throw jobFailure(
    job.status === 'cancelled' ? 'JOB_CANCELLED' : 'JOB_FAILED',
    job.status === 'cancelled' ? 'the job was cancelled' : 'the job failed',
    `See why: \`${writeCommand(caller, ['jobs', 'get', reference])}\``,
    { jobId },
  );
}

export interface WebhookDelivery {
  /** The raw bytes, which were signed. */
  readonly body: Buffer;
  /** Every value of each header, names in lower case. */
  readonly headers: NodeJS.Dict<string[]>;
  /** Names and values alternating, as received. */
  readonly rawHeaders: readonly string[];
}

export interface WebhookReply {
  readonly status: number;
  /** One line for the sender's log. */
  readonly text: string;
}

interface ListenerOptions {
  readonly host: string;
  /** 0 lets the system pick a free one. */
  readonly port: number;
  /** Begins with a slash; a query after it is ignored. */
  readonly path: string;
  readonly receive: (delivery: WebhookDelivery) => Promise<WebhookReply>;
  /** Called for requests that are not deliveries. */
  readonly onRefused: (reason: string) => void;
  /** How long a request may take to arrive, in milliseconds; default: the timeout of the sender. */
  readonly arriveMs?: number;
}

export interface Listener {
  readonly url: string;
  /** Lets current responses finish, then closes all connections. */
  close(): Promise<void>;
}

/** An event has about 400 bytes; a service that sends whole jobs fits too. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Time for the last responses. */
const CLOSE_MS = 1_000;

/** Starts listening; rejects with the system error for an unusable address. */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const arriveMs = options.arriveMs ?? LIMITS.webhookTimeoutMs;
  const server = createServer(
    {
      requestTimeout: arriveMs,
      headersTimeout: arriveMs,
      // How often Node looks for requests that have timed out.
      connectionsCheckingInterval: Math.min(1_000, arriveMs / 2),
    },
    (request, response) => void answer(request, response, options),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, options.host, resolve);
  });
  const { address, family, port } = server.address() as AddressInfo; // a TCP server has one
  const host = family === 'IPv6' ? `[${address}]` : address;
  return { url: `http://${host}:${port}${options.path}`, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: ListenerOptions,
): Promise<void> {
  const outcome = await readRequest(request, options).catch((error: unknown) => {
    const text = `the request broke off: ${error instanceof Error ? error.message : String(error)}`;
    options.onRefused(text);
    return { status: 400, text };
  });
  const allow = outcome.status === 405 ? { Allow: 'POST' } : {};
  // One connection per delivery: deliveries are rare, and no connection stays open at the end.
  response.writeHead(outcome.status, { 'Content-Type': 'text/plain', Connection: 'close', ...allow });
  response.end(`${outcome.text}\n`, () => request.destroy());
}

async function readRequest(request: IncomingMessage, options: ListenerOptions): Promise<WebhookReply> {
  const refuse = (status: number, text: string): WebhookReply => {
    options.onRefused(text);
    return { status, text };
  };
  const [path = ''] = (request.url ?? '').split('?', 1);
  if (path !== options.path) return refuse(404, `a request for another path than ${options.path}: ${path}`);
  if (request.method !== 'POST')
    return refuse(405, `a ${request.method} request; webhooks are sent with POST`);
  const body = await readBody(request);
  if (body === null) return refuse(413, `a body of more than ${MAX_BODY_BYTES / 1024} KiB`);
  return options.receive({ body, headers: request.headersDistinct, rawHeaders: request.rawHeaders });
}

/** Null for a body above the limit. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The connection is needed for the response.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

interface EventCommands {
  /** Queues the command for an event and returns immediately. */
  run(event: ReceivedEvent): void;
  /** Resolves when all have ended. */
  idle(): Promise<void>;
}

interface EventCommandOptions {
  /** Run by the shell. */
  readonly command: string;
  readonly env: Environment;
  readonly cwd: string;
  /** Gets stdout and stderr of the command; stdout of vloc is for data only. */
  readonly output: Output;
  /** Abort ends the running command and starts no other. */
  readonly signal: AbortSignal;
  /** Called for every command that failed; `reason` is one sentence without the final stop. */
  readonly onFailed: (event: ReceivedEvent, reason: string) => void;
}

/** Creates the queue of commands. */
export function createEventCommands(options: EventCommandOptions): EventCommands {
  let last = Promise.resolve();
  return {
    run(event) {
      last = last.then(async () => {
        if (options.signal.aborted) return;
        const fault = await runCommand(event, options);
        if (fault !== null && !options.signal.aborted) options.onFailed(event, fault);
      });
    },
    idle: () => last,
  };
}

/** Null on success, else the reason. */
async function runCommand(event: ReceivedEvent, options: EventCommandOptions): Promise<string | null> {
  const { endWithProcess, startGroup } = await import('../../media/programs/start.ts');
  const child = startGroup(options.command, [], {
    shell: true,
    cwd: options.cwd,
    env: environmentOf(event, options.env),
    cancelSignal: options.signal,
    input: event.body,
    buffer: false,
  });
  endWithProcess(child);
  child.stdout.pipe(options.output, { end: false });
  child.stderr.pipe(options.output, { end: false });
  const { exitCode, signal, originalMessage } = await child;
  if (exitCode === 0) return null;
  if (signal !== undefined) return `it was ended by ${signal}`;
  return exitCode === undefined
    ? `it could not be started: ${originalMessage}`
    : `it ended with exit code ${exitCode}`;
}

/** The environment without secrets, plus the event in variables; missing facts are empty. */
function environmentOf(event: ReceivedEvent, env: Environment): Record<string, string | undefined> {
  const { id, type, job } = event;
  const facts = {
    ID: id,
    TYPE: type,
    JOB_ID: job.id,
    JOB_KIND: job.kind,
    JOB_STATUS: job.status,
    CLIENT_REFERENCE: job.client_reference,
    DETAIL_URL: job.detail_url,
  };
  // A NUL ends a variable early, so Node refuses to pass one.
  const own = Object.entries(facts).map(([name, value]) => [
    `VLOC_EVENT_${name}`,
    (value ?? '').replaceAll('\0', ''),
  ]);
  return { ...withoutSecrets(env), ...Object.fromEntries(own) };
}
