/**
 * Reading of resources by a hosted service that differs in what the specification does not show: unknown fields are
 * ignored, a missing one that is needed becomes a Failure that names it. Source: contract, rule 3.
 */
import { type Failure, refusedFailure } from '../../base/failure.ts';
import type { ListPage } from '../../protocol/resources.ts';
import type { Emit } from '../call.ts';

export interface ResponseSource {
  /** Name of the record in messages: `the job`, `the upload`. */
  readonly subject: string;
  readonly requestId: string | null;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as a JSON object, or null for everything else, arrays too. */
export function asObject(value: unknown): JsonObject | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return value as JsonObject; // every other JSON value has string keys
}

/** Own members only: `constructor` and the like are never found. */
export function readMember(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Numbers and, since decimals are often sent so, their text form. */
export function asNumber(value: unknown): number | null {
  const number = typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** The failure of an answer that lacks a field; `found` is what was there instead. */
export function missingFieldFailure(origin: ResponseSource, field: string, found?: unknown): Failure {
  const fault = describeFault(found);
  return refusedFailure(
    'ANSWER_INCOMPLETE',
    `in the answer about ${origin.subject} the field \`${field}\` ${fault}`,
    'The service differs from the API that this version of vloc supports: report the field and the request id.',
    {
      origin: 'api',
      blame: 'service',
      errors: [{ pointer: `/${field.replaceAll('.', '/')}`, detail: fault }],
      ...(origin.requestId === null ? {} : { requestId: origin.requestId }),
    },
  );
}

/** Longest value of a field that is quoted. */
const QUOTED_LENGTH = 40;

function describeFault(found: unknown): string {
  if (found === undefined || found === null) return 'is missing';
  if (typeof found !== 'string') return 'has an unexpected type';
  return found === ''
    ? 'is empty'
    : `says "${found.slice(0, QUOTED_LENGTH)}", which this version does not know`;
}

/** @throws Failure when the answer is not an object at all */
export function needObject(origin: ResponseSource, value: unknown): JsonObject {
  const object = asObject(value);
  if (object !== null) return object;
  const message = `the answer about ${origin.subject} is not a JSON object`;
  throw missingFieldFailure(origin, '', value).with({ message });
}

/** @throws Failure when the field is not a string, or empty */
function needText(origin: ResponseSource, object: JsonObject, field: string): string {
  const text = asText(readMember(object, field));
  if (text === null) throw missingFieldFailure(origin, field, readMember(object, field));
  return text;
}

/** @throws Failure when the field is not a number */
export function needNumber(origin: ResponseSource, object: JsonObject, field: string): number {
  const number = asNumber(readMember(object, field));
  if (number === null) throw missingFieldFailure(origin, field, readMember(object, field));
  return number;
}

/** An id that is one segment of a path. @throws Failure for an answer whose id would lead to another resource */
export function needId(origin: ResponseSource, object: JsonObject): string {
  const id = needText(origin, object, 'id');
  const isSegment = /^[^/\\\p{Cc}]+$/u.test(id) && id.isWellFormed() && id !== '.' && id !== '..';
  if (isSegment) return id;
  const shown = JSON.stringify(id.slice(0, QUOTED_LENGTH));
  const message = `the service returned an invalid id for ${origin.subject}: ${shown}`;
  throw missingFieldFailure(origin, 'id', id).with({ message });
}

/** Called for a status that the specification does not list. */
export type UnknownStatusReceiver = (id: string, status: string) => void;

/**
 * The status of a resource.
 * @param otherwise for a status that the specification does not list
 * @throws Failure when there is none
 */
export function readStatus<T extends string>(
  origin: ResponseSource,
  object: JsonObject,
  values: readonly T[],
  otherwise: T,
  onUnknown: UnknownStatusReceiver = () => undefined,
): T {
  const text = needText(origin, object, 'status');
  const value = values.find((each) => each === text);
  if (value !== undefined) return value;
  onUnknown(needId(origin, object), text);
  return otherwise;
}

/** Reports each unknown status once for each resource: polls read it again and again. */
export function createStatusReporter(emit: Emit): UnknownStatusReceiver {
  const reported = new Set<string>();
  return (id, status) => {
    const shown = `${id} has the status ${JSON.stringify(status.slice(0, QUOTED_LENGTH))}`;
    if (reported.has(shown)) return;
    reported.add(shown);
    const message = `${shown}, which this version does not know; it counts as not finished`;
    emit({ type: 'notice', code: 'STATUS_UNKNOWN', message });
  };
}

/** Which request a resource came from, so that a fault found later still names it for support. */
const REQUEST_IDS = new WeakMap<object, string>();

/** Remembers the request as long as the resource lives; returns the resource. */
export function rememberRequest<T extends object>(resource: T, requestId: string | null): T {
  if (requestId !== null) REQUEST_IDS.set(resource, requestId);
  return resource;
}

/** The request that answered with this resource, null when it came from elsewhere. */
export function requestIdOf(resource: object): string | null {
  return REQUEST_IDS.get(resource) ?? null;
}

/**
 * The list envelope; a page that says there is more must say where it begins. Source: specification, "List envelope".
 * @param readItem reads one entry of `data`
 */
export function readList<Item>(
  body: unknown,
  requestId: string | null,
  readItem: (item: unknown, requestId: string | null) => Item,
): ListPage<Item> {
  const origin: ResponseSource = { subject: 'the list', requestId };
  const object = needObject(origin, body);
  const data = readMember(object, 'data');
  if (!Array.isArray(data)) throw missingFieldFailure(origin, 'data', data);
  const cursor = asText(readMember(object, 'next_cursor'));
  if (readMember(object, 'has_more') === true && cursor === null)
    throw missingFieldFailure(origin, 'next_cursor');
  return {
    object: 'list',
    data: data.map((item) => readItem(item, requestId)),
    has_more: readMember(object, 'has_more') !== false && cursor !== null,
    next_cursor: cursor,
  };
}

/** One page to await; to iterate, the entries of this and all later pages, each page fetched when it is needed. */
export type Pages<Item> = Promise<ListPage<Item>> & AsyncIterable<Item>;

/**
 * Makes a list from what fetches one page. The first page is fetched at once.
 * @param load fetches the page at a cursor, the first without one
 */
export function createPages<Item>(load: (cursor?: string) => Promise<ListPage<Item>>): Pages<Item> {
  const first = load();
  // Whoever awaits or iterates it later gets the failure.
  first.catch(() => undefined);
  return Object.assign(first, {
    async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
      const seen = new Set<string>();
      let page = await first;
      for (;;) {
        yield* page.data;
        const cursor = page.next_cursor;
        if (!page.has_more || cursor === null) return;
        if (seen.has(cursor)) throw repeatedCursorFailure();
        seen.add(cursor);
        page = await load(cursor);
      }
    },
  });
}

/** A list that would never end. */
function repeatedCursorFailure(): Failure {
  return refusedFailure(
    'CURSOR_REPEATED',
    'the service returned the same next_cursor twice, so the list would never end',
    'Limit the list with created_after and created_before, and report this to the service.',
    { origin: 'api', blame: 'service' },
  );
}
