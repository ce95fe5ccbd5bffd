/** Unsigned pages outside the interface: its OpenAPI document, error pages, health, metrics. */
import { freeBytes } from '../../base/folder.ts';
import { ERROR_CODES, isErrorCode } from '../../protocol/error-codes.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';
import { isAddressAllowed } from '../auth/caller-address.ts';
import type { ServiceContext } from '../context.ts';
import { createJsonResponse, type Exchange, type ServiceResponse } from '../http/exchange.ts';
import { Refusal } from '../http/refusal.ts';
import type { PageName } from '../http/router.ts';
import { refuseForeignHost } from '../http/sanity.ts';
import type { RequestLog, RequestRecord } from '../log.ts';
import { createReadiness, type Readiness } from './health.ts';

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
  const check = createReadiness(context);
  // The start of the service does not wait for this.
  const metrics =
    metricsFrom === null
      ? null
      : import('./metrics.ts').then((module) => module.createMetrics(context, check));
  let document: Promise<ServiceResponse> | null = null;
  return {
    answer: {
      live: async () => createJsonResponse(200, { status: 'ok' }),
      readiness: () => answerReadiness(context, check),
      async health({ request }) {
        refuseForeignHost(request, context.origin());
        return answerHealth(context, await check());
      },
      document() {
        document ??= answerDocument(context);
        return document;
      },
      async metrics({ address, request }) {
        const allowed = metricsFrom ?? [];
        // Elsewhere an empty list allows everyone. Here it allows no one.
        if (metrics === null || allowed.length === 0 || !isAddressAllowed(allowed.join(','), address)) {
          throw new Refusal('RESOURCE_NOT_FOUND', 'there is nothing at /metrics for this address');
        }
        refuseForeignHost(request, context.origin());
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

const PROBES: readonly string[] = ['/livez', '/readyz', '/healthz', '/metrics'];

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

/** When to ask again about a part that fails. */
const RETRY_AFTER = { 'Retry-After': '5' };

/** The answer of `/readyz`, for what sends requests to this process: 503 if none can be answered, or none should be sent any more. */
async function answerReadiness(
  { activity }: ServiceContext,
  check: () => Promise<Readiness>,
): Promise<ServiceResponse> {
  if (activity.state !== 'running') return createJsonResponse(503, { status: activity.state }, RETRY_AFTER);
  const readiness = await check();
  return readiness.status === 'failing'
    ? createJsonResponse(503, readiness, RETRY_AFTER)
    : createJsonResponse(200, readiness);
}

/** The answer of `/healthz`, for people: all parts, and the free disk. */
async function answerHealth(
  { folders, activity }: ServiceContext,
  readiness: Readiness,
): Promise<ServiceResponse> {
  const health = { ...readiness, state: activity.state, disk_free_bytes: await freeBytes(folders.root) };
  return readiness.status === 'failing'
    ? createJsonResponse(503, health, RETRY_AFTER)
    : createJsonResponse(200, health);
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
