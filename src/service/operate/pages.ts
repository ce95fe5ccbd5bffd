/** What is served besides the interface, unsigned: the document of the interface, health, metrics. */

import { VERSION_PREFIX } from '../../protocol/operations.ts';
import { isAddressAllowed } from '../auth/allow-list.ts';
import type { Context } from '../context.ts';
import type { Answer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { Refusal } from '../http/refusal.ts';
import type { PageName } from '../http/route.ts';
import type { RequestLog, RequestRecord } from '../log.ts';
import { createHealthCheck } from './health.ts';

export interface Pages {
  readonly answer: Readonly<Record<PageName, (exchange: Exchange) => Promise<Answer>>>;
  /** Takes note of an answered request. */
  readonly record: RequestLog;
}

/**
 * Makes the pages of one service.
 * @param options `metricsFrom`: who may read metrics, null serves none; `onRequest` is told of every request
 */
export function createPages(
  context: Context,
  options: { metricsFrom: readonly string[] | null; onRequest: RequestLog | null },
): Pages {
  const { metricsFrom, onRequest } = options;
  // Loaded behind the start of the service, which does not wait for it.
  const metrics =
    metricsFrom === null ? null : import('./metrics.ts').then((module) => module.createMetrics(context));
  let document: Promise<Answer> | null = null;
  return {
    answer: {
      health: createHealthCheck(context),
      document() {
        document ??= answerDocument(context);
        return document;
      },
      async metrics({ address }) {
        const allowed = metricsFrom ?? [];
        // An empty list admits everybody elsewhere; here it admits nobody.
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

/** Programs that ask every few seconds whether all is well would fill the log with it. */
function isProbe({ template, status }: RequestRecord): boolean {
  return (template === '/healthz' || template === '/metrics') && status === 200;
}

/** The document is made at its first request: its parts load in 20 ms, and most processes never need them. */
async function answerDocument(context: Context): Promise<Answer> {
  const { createOpenApiDocument } = await import('../../protocol/openapi/document.ts');
  const { headerPrefix } = context.config;
  const document = createOpenApiDocument({ baseUrl: context.origin() + VERSION_PREFIX, headerPrefix });
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  };
}
