/** Unsigned pages outside the interface: its OpenAPI document, error pages, health, metrics. */
import { statfs } from 'node:fs/promises';
import { ERROR_CODES, isErrorCode } from '../../protocol/error-codes.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';
import { isAddressAllowed } from '../auth/caller-address.ts';
import type { ServiceContext } from '../context.ts';
import { type Exchange, json, type ServiceResponse } from '../http/exchange.ts';
import { Refusal } from '../http/refusal.ts';
import type { PageName } from '../http/router.ts';
import type { RequestLog, RequestRecord } from '../log.ts';
import { checkDatabase, checkReadiness } from './readiness.ts';

export interface OperatorPages {
  readonly answer: Readonly<Record<PageName, (exchange: Exchange) => Promise<ServiceResponse>>>;
  /** Records an answered request. */
  readonly record: RequestLog;
}

/**
 * Creates the pages of one service.
 * @param options `metricsFrom`: addresses that may read metrics, null disables metrics; `onRequest` is called for each
 * request
 */
export function createPages(
  context: ServiceContext,
  options: { metricsFrom: readonly string[] | null; onRequest: RequestLog | null },
): OperatorPages {
  const { metricsFrom, onRequest } = options;
  // The start of the service does not wait for this.
  const metrics =
    metricsFrom === null ? null : import('./metrics.ts').then((module) => module.createMetrics(context));
  let document: Promise<ServiceResponse> | null = null;
  return {
    answer: {
      health: createFresh(context, answerHealth),
      readiness: createFresh(context, answerReadiness),
      document() {
        document ??= answerDocument(context);
        return document;
      },
      async metrics({ address }) {
        const allowed = metricsFrom ?? [];
        // Elsewhere an empty list allows everyone. Here it allows no one.
        if (metrics === null || allowed.length === 0 || !isAddressAllowed(allowed.join(','), address)) {
          throw new Refusal('RESOURCE_NOT_FOUND', 'there is nothing at /metrics for this address');
        }
        const { contentType, collect } = await metrics;
        return { status: 200, headers: { 'Content-Type': contentType }, body: await collect() };
      },
    },
    record(record) {
      void metrics?.then(({ observe }) => observe(record));
      if (!isProbe(record)) onRequest?.(record);
    },
  };
}

const PROBES: readonly string[] = ['/healthz', '/readyz', '/metrics'];

/** Returns true for successful monitoring requests, which would fill the log. */
function isProbe({ template, status }: RequestRecord): boolean {
  return template !== null && PROBES.includes(template) && status === 200;
}

/** Builds the document at the first request: its code loads in 20 ms, and most processes never need it. */
async function answerDocument(context: ServiceContext): Promise<ServiceResponse> {
  const { createOpenApiDocument } = await import('../../protocol/openapi/document.ts');
  const { headerPrefix } = context.config;
  const document = createOpenApiDocument({ baseUrl: context.origin() + VERSION_PREFIX, headerPrefix });
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  };
}

/** Anyone may request these, so the disk is written at most once in this time. */
const FRESH_MS = 1000;
/** When to ask again about a part that fails. */
const RETRY_AFTER = { 'Retry-After': '5' };

/** Creates a page whose answer serves all requests of a second. */
function createFresh(
  context: ServiceContext,
  check: (context: ServiceContext) => Promise<ServiceResponse>,
): () => Promise<ServiceResponse> {
  let last: { at: number; answer: Promise<ServiceResponse> } | null = null;
  return () => {
    const now = context.clock.now();
    if (last === null || now - last.at >= FRESH_MS) last = { at: now, answer: check(context) };
    return last.answer;
  };
}

/** The answer of `/healthz`: 200 if this process can write to the store, else 503. */
async function answerHealth(context: ServiceContext): Promise<ServiceResponse> {
  if ((await checkDatabase(context)) !== 'ok')
    return json(503, { status: 'failing', store: 'not writable' }, RETRY_AFTER);
  const { bavail, bsize } = await statfs(context.folders.root);
  return json(200, { status: 'ok', store: 'writable', disk_free_bytes: bavail * bsize });
}

/**
 * The answer of `/readyz`: 200 if requests can be answered, else 503. Without workers they can: jobs are accepted and wait, so a
 * load balancer must not take all nodes away.
 */
async function answerReadiness(context: ServiceContext): Promise<ServiceResponse> {
  const readiness = await checkReadiness(context);
  const { database, storage, queue } = readiness;
  if (database !== 'ok' || storage !== 'ok') {
    return json(503, { status: 'failing', ...readiness }, RETRY_AFTER);
  }
  return json(200, { status: queue === 'ok' ? 'ok' : 'degraded', ...readiness });
}

/** Returns the page behind the `type` of a problem. `name` is the code in lower case. */
export function answerErrorPage(name: string): ServiceResponse {
  const code = name.toUpperCase();
  if (name !== name.toLowerCase() || !isErrorCode(code)) {
    throw new Refusal('RESOURCE_NOT_FOUND', `there is no error "${name.slice(0, 64)}"`);
  }
  const { status, title, retryable, advice } = ERROR_CODES[code];
  const lines = [
    `${code} (HTTP ${status})`,
    '',
    `${title}.`,
    advice,
    '',
    retryable ? 'The same request may succeed later.' : 'The same request will not succeed later.',
    '',
  ];
  return { status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: lines.join('\n') };
}
