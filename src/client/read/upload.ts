import type { UploadTarget } from '../../protocol/resources.ts';
import { UPLOAD_PURPOSES, UPLOAD_STATUSES } from '../../protocol/states.ts';
import {
  asNumber,
  asObject,
  asText,
  type JsonObject,
  member,
  missingFieldFailure,
  needId,
  needObject,
  type ResponseSource,
  readStatus,
  rememberRequest,
  type UnknownStatusReceiver,
} from './record.ts';
import type { Upload, UploadMedia } from './resources.ts';

/** Names under which a service may return the address for the bytes. Source: contract, "Uploads", tolerant. */
const TARGET_NAMES = ['upload_request', 'upload', 'upload_target', 'direct_upload'];

/**
 * An upload: needs `id` and `status`, all else may be missing.
 * @throws Failure naming the field and the request
 */
export function readUpload(
  body: unknown,
  requestId: string | null,
  onUnknown?: UnknownStatusReceiver,
): Upload {
  const origin = { subject: 'the upload', requestId };
  const object = needObject(origin, body);
  const id = needId(origin, object);
  const target = readTarget(origin, object);
  const unsettled = target === null ? 'validating' : 'waiting_for_upload';
  const upload: Upload = {
    id,
    object: 'upload',
    status: readStatus(origin, object, UPLOAD_STATUSES, unsettled, onUnknown),
    purpose: UPLOAD_PURPOSES.find((purpose) => purpose === member(object, 'purpose')) ?? null,
    file_name: asText(member(object, 'file_name')),
    content_type: asText(member(object, 'content_type')),
    size_bytes: asNumber(member(object, 'size_bytes')),
    upload_request: target,
    media: readMedia(asObject(member(object, 'media'))),
    subtitle: readSubtitle(asObject(member(object, 'subtitle'))),
    error: readError(asObject(member(object, 'error'))),
    client_reference: asText(member(object, 'client_reference')),
    created_at: asText(member(object, 'created_at')),
    updated_at: asText(member(object, 'updated_at')),
    expires_at: asText(member(object, 'expires_at')),
    detail_url: asText(member(object, 'detail_url')) ?? `/v1/uploads/${id}`,
  };
  return rememberRequest(upload, requestId);
}

function readTarget(origin: ResponseSource, upload: JsonObject): UploadTarget | null {
  const name = TARGET_NAMES.find((each) => asObject(member(upload, each)) !== null);
  if (name === undefined) return null;
  const target = asObject(member(upload, name)) ?? {};
  const url = asText(member(target, 'url')) ?? asText(member(target, 'upload_url'));
  if (url === null) throw missingFieldFailure(origin, `${name}.url`);
  const method = (asText(member(target, 'method')) ?? 'PUT').toUpperCase();
  if (method !== 'PUT') throw missingFieldFailure(origin, `${name}.method`, method);
  return {
    method,
    url,
    headers: readHeaders(member(target, 'headers')),
    expires_at: asText(member(target, 'expires_at')) ?? '',
  };
}

/** An object, or an array of `{name, value}`. */
function readHeaders(value: unknown): Record<string, string> {
  const pairs = Array.isArray(value)
    ? value.map((entry) => [member(asObject(entry) ?? {}, 'name'), member(asObject(entry) ?? {}, 'value')])
    : Object.entries(asObject(value) ?? {});
  const headers: Record<string, string> = {};
  for (const [name, content] of pairs) {
    const isValue = typeof content === 'string' || typeof content === 'number';
    if (typeof name === 'string' && isValue) headers[name.toLowerCase()] = String(content);
  }
  return headers;
}

function readMedia(media: JsonObject | null): UploadMedia | null {
  if (media === null) return null;
  return {
    duration_seconds: asNumber(member(media, 'duration_seconds')),
    container: asText(member(media, 'container')),
    video: asObject(member(media, 'video')),
    audio: asObject(member(media, 'audio')),
  };
}

function readSubtitle(subtitle: JsonObject | null): Upload['subtitle'] {
  if (subtitle === null) return null;
  return {
    lines: asNumber(member(subtitle, 'lines')),
    duration_seconds: asNumber(member(subtitle, 'duration_seconds')),
  };
}

function readError(error: JsonObject | null): Upload['error'] {
  if (error === null) return null;
  const code = asText(member(error, 'code')) ?? 'UNKNOWN';
  return { code, message: asText(member(error, 'message')) ?? asText(member(error, 'detail')) ?? code };
}

/** The names of the fields of an upload. */
export function uploadFields(): readonly string[] {
  return Object.keys(readUpload({ id: '_', status: 'ready' }, null));
}
