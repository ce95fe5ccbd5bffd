import type { UploadTarget } from '../../protocol/resources.ts';
import { UPLOAD_PURPOSES, UPLOAD_STATUSES } from '../../protocol/states.ts';
import {
  asNumber,
  asObject,
  asText,
  type JsonObject,
  missingFieldFailure,
  needId,
  needObject,
  type ResponseSource,
  readMember,
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
    purpose: UPLOAD_PURPOSES.find((purpose) => purpose === readMember(object, 'purpose')) ?? null,
    file_name: asText(readMember(object, 'file_name')),
    content_type: asText(readMember(object, 'content_type')),
    size_bytes: asNumber(readMember(object, 'size_bytes')),
    upload_request: target,
    media: readMedia(asObject(readMember(object, 'media'))),
    subtitle: readSubtitle(asObject(readMember(object, 'subtitle'))),
    error: readError(asObject(readMember(object, 'error'))),
    client_reference: asText(readMember(object, 'client_reference')),
    created_at: asText(readMember(object, 'created_at')),
    updated_at: asText(readMember(object, 'updated_at')),
    expires_at: asText(readMember(object, 'expires_at')),
    detail_url: asText(readMember(object, 'detail_url')) ?? `/v1/uploads/${id}`,
  };
  return rememberRequest(upload, requestId);
}

function readTarget(origin: ResponseSource, upload: JsonObject): UploadTarget | null {
  const name = TARGET_NAMES.find((each) => asObject(readMember(upload, each)) !== null);
  if (name === undefined) return null;
  const target = asObject(readMember(upload, name)) ?? {};
  const url = asText(readMember(target, 'url')) ?? asText(readMember(target, 'upload_url'));
  if (url === null) throw missingFieldFailure(origin, `${name}.url`);
  const method = (asText(readMember(target, 'method')) ?? 'PUT').toUpperCase();
  if (method !== 'PUT') throw missingFieldFailure(origin, `${name}.method`, method);
  return {
    method,
    url,
    headers: readHeaders(readMember(target, 'headers')),
    expires_at: asText(readMember(target, 'expires_at')) ?? '',
  };
}

/** An object, or an array of `{name, value}`. */
function readHeaders(value: unknown): Record<string, string> {
  const pairs = Array.isArray(value)
    ? value.map((entry) => [
        readMember(asObject(entry) ?? {}, 'name'),
        readMember(asObject(entry) ?? {}, 'value'),
      ])
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
    duration_seconds: asNumber(readMember(media, 'duration_seconds')),
    container: asText(readMember(media, 'container')),
    video: asObject(readMember(media, 'video')),
    audio: asObject(readMember(media, 'audio')),
  };
}

function readSubtitle(subtitle: JsonObject | null): Upload['subtitle'] {
  if (subtitle === null) return null;
  return {
    lines: asNumber(readMember(subtitle, 'lines')),
    duration_seconds: asNumber(readMember(subtitle, 'duration_seconds')),
  };
}

function readError(error: JsonObject | null): Upload['error'] {
  if (error === null) return null;
  const code = asText(readMember(error, 'code')) ?? 'UNKNOWN';
  return {
    code,
    message: asText(readMember(error, 'message')) ?? asText(readMember(error, 'detail')) ?? code,
  };
}

/** The names of the fields of an upload. */
export function uploadFields(): readonly string[] {
  return Object.keys(readUpload({ id: '_', status: 'ready' }, null));
}
