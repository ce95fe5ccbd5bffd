/**
 * Creates uploads and brings them to the state that a rule needs. Reads the reservation in every form that the vloc
 * client supports.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe } from '../expect/answer.ts';
import { Unprepared } from '../run-rule.ts';
import { type ServiceUnderTest, shared, type UploadFile } from '../service.ts';
import { type Caller, freshToken } from '../wire/caller.ts';
import { type Headers, type Incoming, send } from '../wire/exchange.ts';
import { asObject, isObject, textAt } from '../wire/json.ts';
import { goodSubtitleFile } from './subtitles.ts';

/** Returns the body of a reservation. */
export function reservationOf(file: UploadFile, size = file.bytes.length): Record<string, unknown> {
  return { purpose: file.purpose, file_name: file.name, content_type: file.contentType, size_bytes: size };
}

/**
 * Checks an answer to a request that only prepares a rule. The specification does not define the form of such requests,
 * so a refusal says nothing about the rule.
 */
export function prepared(answer: Incoming, ...statuses: readonly number[]): Incoming {
  if (!statuses.includes(answer.status)) {
    throw new Unprepared(`needed ${statuses.join(' or ')} to set the scene; ${describe(answer)}`);
  }
  return answer;
}

export interface Reservation {
  readonly id: string;
  readonly answer: Incoming;
}

/** Creates an upload in `waiting_for_upload`. */
export async function reserve(
  caller: Caller,
  file: UploadFile,
  extra: Readonly<Record<string, unknown>> = {},
): Promise<Reservation> {
  const answer = prepared(await caller.post('/uploads', { ...reservationOf(file), ...extra }), 201);
  return { id: textAt(answer.json, 'id'), answer };
}

export interface DirectUpload {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
}

const TARGET_NAMES = ['upload_request', 'upload', 'upload_target', 'direct_upload'];

/** Returns where and how to send the bytes, from the reservation. */
export function directUploadOf(answer: Incoming): DirectUpload {
  const upload = asObject(answer.json);
  const target = TARGET_NAMES.map((name) => upload[name]).find(isObject);
  if (target === undefined) assert.fail(`the reservation has no direct-upload address; ${describe(answer)}`);
  const url = typeof target.url === 'string' ? target.url : target.upload_url;
  if (typeof url !== 'string') assert.fail(`the direct upload has no url; ${describe(answer)}`);
  const method = typeof target.method === 'string' ? target.method : 'PUT';
  return { method, url, headers: headersOf(target.headers) };
}

function headersOf(value: unknown): Headers {
  const pairs = Array.isArray(value)
    ? value.map((entry) => [textAt(entry, 'name'), textAt(entry, 'value')] as const)
    : Object.entries(isObject(value) ? value : {}).map(([name, text]) => [name, String(text)] as const);
  return Object.fromEntries(pairs);
}

/** Sends bytes exactly as instructed, without a key. */
export function sendBytes(target: DirectUpload, bytes: Buffer): Promise<Incoming> {
  const { origin, pathname, search } = new URL(target.url);
  return send({
    method: target.method,
    origin,
    target: pathname + search,
    headers: target.headers,
    body: bytes,
  });
}

/** Returns the ETag from the object storage, or the MD5 if there is none. */
function etagOf(stored: Incoming, bytes: Buffer): string {
  return stored.headers.etag ?? createHash('md5').update(bytes).digest('hex');
}

export interface StoredUpload extends Reservation {
  readonly etag: string;
}

/** Creates an upload and sends its bytes. */
export async function store(caller: Caller, file: UploadFile): Promise<StoredUpload> {
  const reservation = await reserve(caller, file);
  const stored = prepared(await sendBytes(directUploadOf(reservation.answer), file.bytes), 200, 201, 204);
  return { ...reservation, etag: etagOf(stored, file.bytes) };
}

/** Submits the ETag of an upload. Returns any answer of the service. */
export function complete(caller: Caller, id: string, etag: string, key = freshToken()): Promise<Incoming> {
  return caller.post(`/uploads/${id}/completions`, { etag }, key);
}

/** Creates an upload and waits for its validation. Returns it with its last answer: `ready` or `failed`. */
export async function validate(
  service: ServiceUnderTest,
  file: UploadFile,
  caller: Caller = service.caller,
): Promise<StoredUpload & { readonly last: Incoming }> {
  const stored = await store(caller, file);
  prepared(await complete(caller, stored.id, stored.etag), 200, 202);
  const last = await service.until(
    `the validation of ${file.name}`,
    () => caller.get(`/uploads/${stored.id}`),
    (answer) => textAt(answer.json, 'status') !== 'validating',
  );
  return { ...stored, last };
}

async function requireReady(
  service: ServiceUnderTest,
  file: UploadFile,
): Promise<StoredUpload & { readonly last: Incoming }> {
  const upload = await validate(service, file);
  const status = textAt(upload.last.json, 'status');
  if (status !== 'ready')
    throw new Unprepared(`${file.name} became ${status}, not ready; ${describe(upload.last)}`);
  return upload;
}

/** Returns the video of the run. */
export function mediaOf({ supplies }: ServiceUnderTest): UploadFile {
  if (supplies.media === null) throw new Error('a rule uses a video that it does not ask for');
  return supplies.media;
}

/** A ready upload of the video of the run, one for all rules. */
export const readyVideo: (service: ServiceUnderTest) => Promise<StoredUpload & { readonly last: Incoming }> =
  shared((service) => requireReady(service, mediaOf(service)));

/** A ready upload of subtitles, one for all rules. */
export const readySubtitle: typeof readyVideo = shared((service) =>
  requireReady(service, goodSubtitleFile(service)),
);
