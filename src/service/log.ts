import type { Provenance } from '../protocol/provenance.ts';

/** An event for the operator. Never contains a secret, a signature or the query of a URL. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly requestId?: string;
  /** Id of the related job or upload. */
  readonly resourceId?: string;
  readonly error?: unknown;
  /** Engines of the job, and how its speech fits. */
  readonly provenance?: Provenance | null;
}

export type Log = (entry: LogEntry) => void;

/** A request for the operator's log, without any free text from its caller. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** `/v1/uploads/{upload_id}`: the path with placeholders for its parameters; null for an unknown path. */
  readonly template: string | null;
  /** Null if it is not an operation of the interface. */
  readonly operationId: string | null;
  /** Null if the caller disconnected before the answer. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Public identifier of the key; null if no signature was verified. */
  readonly keyId: string | null;
  readonly address: string | null;
}

export type RequestLog = (record: RequestRecord) => void;

interface LogWriter {
  readonly log: Log;
  readonly onRequest: RequestLog;
}

/**
 * Creates the log of events and the log of requests: one line each, as JSON for programs or as text for people.
 * @param write receives one line without its line break
 * @param now ms since 1970
 */
export function createLogWriter(
  form: 'json' | 'text',
  write: (line: string) => void,
  now: () => number,
): LogWriter {
  const describe = form === 'json' ? JSON_FORM : TEXT_FORM;
  return {
    log: (entry) => write(describe.entry(entry, new Date(now()))),
    onRequest: (record) => write(describe.request(record, new Date(now()))),
  };
}

interface Form {
  entry(entry: LogEntry, time: Date): string;
  request(record: RequestRecord, time: Date): string;
}

/** Statuses from 500 are errors of the service. */
const SERVER_ERRORS = 500;

const JSON_FORM: Form = {
  entry: ({ level, message, requestId, resourceId, error, provenance }, time) =>
    JSON.stringify({
      time: time.toISOString(),
      level,
      message,
      request_id: requestId,
      resource_id: resourceId,
      error: error === undefined ? undefined : describeError(error),
      provenance: provenance ?? undefined,
    }),
  request: (record, time) =>
    JSON.stringify({
      time: time.toISOString(),
      level: (record.status ?? 0) >= SERVER_ERRORS ? 'error' : 'info',
      message: 'request',
      method: record.method,
      path: record.template,
      operation: record.operationId,
      status: record.status,
      duration_ms: record.durationMs,
      key_id: record.keyId,
      address: record.address,
      request_id: record.requestId,
    }),
};

const TEXT_FORM: Form = {
  entry({ level, message, requestId, resourceId, error, provenance }, time) {
    const about = [requestId, resourceId].filter((id) => id !== undefined).join(' ');
    const cause = error === undefined ? '' : `: ${error instanceof Error ? error.message : String(error)}`;
    return `${clockOf(time)} ${level} ${message}${cause}${describeProvenance(provenance ?? null)} ${about}`.trimEnd();
  },
  request: ({ method, template, status, durationMs, keyId, requestId }, time) =>
    [
      clockOf(time),
      method,
      template ?? '(unknown path)',
      status ?? 'gone',
      `${durationMs} ms`,
      keyId ?? '-',
      requestId,
    ].join(' '),
};

/** `: separate builtin, speak espeak-ng instead of openai kokoro, 2 texts spoken faster, 1 text cut off, 1 text out of time` */
function describeProvenance(provenance: Provenance | null): string {
  if (provenance === null) return '';
  const engines = provenance.engines.map(
    ({ step, engine, skipped, reused = false, where, silent = false }) => {
      const replaced = skipped.length === 0 ? '' : ` instead of ${skipped.join(', ')}`;
      const place = where === undefined ? '' : ` (${where})`;
      return `${step} ${engine}${place}${replaced}${reused ? ' (reused)' : ''}${silent ? ' (no voice found)' : ''}`;
    },
  );
  const cut = provenance.cues.filter(({ fit }) => fit === 'cut').length;
  const fitted = provenance.cues.filter(({ fit }) => fit === 'speed' || fit === 'tempo').length;
  const far = provenance.cues.filter((cue) => cue.shift_seconds !== undefined).length;
  const count = (texts: number, what: string) =>
    texts === 0 ? [] : [`${texts} ${texts === 1 ? 'text' : 'texts'} ${what}`];
  const fits = [...count(fitted, 'spoken faster'), ...count(cut, 'cut off'), ...count(far, 'out of time')];
  return `: ${[...engines, ...fits].join(', ')}`;
}

function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Formats as `14:05:09`, UTC. */
function clockOf(time: Date): string {
  return time.toISOString().slice('2026-01-01T'.length, '2026-01-01T00:00:00'.length);
}
