/** Lists of resources, newest first. Source: specification, "List query parameters". */
import { type Answer, problem } from './send.ts';
import type { Desk } from './service.ts';

/** Something that a list holds. */
export interface Entry {
  /** Greater than that of every older one. */
  readonly number: number;
  readonly createdAt: number;
  readonly status?: string;
  readonly purpose?: unknown;
  readonly reference?: unknown;
}

const STATUSES = {
  jobs: ['queued', 'processing', 'succeeded', 'failed', 'cancelled'],
  uploads: ['waiting_for_upload', 'validating', 'ready', 'failed', 'expired'],
  lines: [],
} as const;

export const PURPOSES: readonly unknown[] = ['source_video', 'subtitle_file'];

const FILTERS = { jobs: ['status', 'client_reference'], uploads: ['status', 'purpose'], lines: [] } as const;

const ALWAYS = ['limit', 'cursor', 'created_after', 'created_before'];
const ZONED = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):.+(?:Z|[+-](?:[01]\d|2[0-3]):\d\d)$/i;
/** Of a reference. Source: specification, "Limits". */
const REFERENCE_LENGTH = 128;

/** A time with its zone, of a day that the calendar has. */
function isTime(text: string): boolean {
  const [, day] = ZONED.exec(text) ?? [];
  return (
    day !== undefined && !Number.isNaN(Date.parse(text)) && dayOf(Date.parse(`${day}T00:00:00Z`)) === day
  );
}

const dayOf = (ms: number) => (Number.isNaN(ms) ? '' : new Date(ms).toISOString().slice(0, 10));

function refuse(detail: string): Answer {
  return problem(400, 'INVALID_REQUEST', detail);
}

/** What is wrong with the query; null when nothing is. */
function faultOf(type: keyof typeof FILTERS, query: URLSearchParams): string | null {
  const names = [...query.keys()];
  const known: readonly string[] = [...ALWAYS, ...FILTERS[type]];
  if (new Set(names).size < names.length) return 'A parameter is repeated.';
  if (names.some((name) => !known.includes(name))) return 'A parameter is unknown.';
  const limit = query.get('limit') ?? '20';
  if (!/^\d+$/.test(limit) || Number(limit) < 1 || Number(limit) > 50) return 'The limit is not 1 to 50.';
  const statuses: readonly string[] = STATUSES[type];
  const status = query.get('status');
  if (status !== null && !statuses.includes(status)) return 'The status is unknown.';
  const purpose = query.get('purpose');
  if (purpose !== null && !PURPOSES.includes(purpose)) return 'The purpose is unknown.';
  const reference = query.get('client_reference');
  if (reference !== null && (reference === '' || reference.length > REFERENCE_LENGTH)) {
    return 'The reference is empty or too long.';
  }
  const bounds = ['created_after', 'created_before'].map((name) => query.get(name));
  if (bounds.some((bound) => bound !== null && !isTime(bound))) {
    return 'A bound is not a time with a zone.';
  }
  const [after, before] = bounds.map((bound) => (bound === null ? null : Date.parse(bound)));
  if (typeof after === 'number' && typeof before === 'number' && after >= before)
    return 'The bounds are crossed.';
  const cursor = query.get('cursor');
  if (cursor !== null && !/\d+$/.test(cursor)) return 'The cursor is unknown.';
  return null;
}

/** One page of these entries. */
export function listPage<T extends Entry>(
  desk: Desk,
  type: keyof typeof FILTERS,
  query: URLSearchParams,
  all: readonly T[],
  shape: (entry: T) => object,
): Answer {
  const { has } = desk;
  const fault = faultOf(type, query);
  if (fault !== null) return refuse(fault);
  const cursor = query.get('cursor');
  // An empty page comes first, with a cursor to what follows.
  const isEmpty = cursor === null && has('page-empty');
  const below = cursor === null ? Number.POSITIVE_INFINITY : Number(/\d+$/.exec(cursor)?.[0]);
  const after = Date.parse(query.get('created_after') ?? '1970-01-01T00:00:00Z');
  const before = Date.parse(query.get('created_before') ?? '9999-01-01T00:00:00Z');
  const matches = (name: string, value: unknown) => query.get(name) === null || query.get(name) === value;
  const found = all
    .filter(({ number, createdAt }) => number < below && createdAt >= after && createdAt < before)
    .filter(({ status }) => matches('status', status))
    .filter(({ purpose }) => matches('purpose', purpose))
    .filter(({ reference }) => matches('client_reference', reference))
    .sort((left, right) => right.number - left.number);
  const size = isEmpty ? 0 : has('page-short') ? 1 : Number(query.get('limit') ?? 20);
  const page = found.slice(0, size);
  const more = size < found.length;
  const last = page.at(-1)?.number ?? (found[0]?.number ?? 0) + 1;
  const next = has('cursor-any') ? `a/b+c==&é ${last}` : `next_${last}`;
  const data = page.map(shape);
  const body = { object: 'list', data, has_more: more, next_cursor: more ? next : null };
  return { status: 200, body: () => body };
}
