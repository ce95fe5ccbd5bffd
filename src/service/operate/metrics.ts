/** What monitoring reads, in the text format of Prometheus. Loaded only where metrics are served. */
import { Counter, Histogram, Registry } from 'prom-client';
import type { Context } from '../context.ts';
import type { RequestRecord } from '../log.ts';
import { addStoreGauges } from './store-gauges.ts';

export interface Metrics {
  readonly contentType: string;
  observe(record: RequestRecord): void;
  /** Reads the store and gives everything. */
  collect(): Promise<string>;
}

/** From a look into the store to a body of 12 MiB that takes its time; uploads and downloads count as the last. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Makes the metrics of one service; those of several in one process do not mix. */
export function createMetrics(context: Context): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'vloc_requests_total',
    help: 'Requests by operation, or by path for requests that are not an operation; status 0: the caller disconnected.',
    labelNames: ['operation', 'method', 'status'] as const,
    registers,
  });
  const durations = new Histogram({
    name: 'vloc_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['operation'] as const,
    buckets: DURATION_BUCKETS,
    registers,
  });
  addStoreGauges(context, registry);
  return {
    contentType: registry.contentType,
    observe({ operationId, template, method, status, durationMs }) {
      // Paths that lead nowhere share one name: callers must not be able to make as many series as they like.
      const operation = operationId ?? template ?? 'none';
      requests.inc({ operation, method: template === null ? 'any' : method, status: String(status ?? 0) });
      durations.observe({ operation }, durationMs / 1000);
    },
    collect: () => registry.metrics(),
  };
}
