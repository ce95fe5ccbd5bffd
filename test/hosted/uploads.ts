/** Uploads: reserved, sent to storage, completed, ready at the next look. */
import { listPage, PURPOSES } from './lists.ts';
import { isMp4, readSrt } from './media.ts';
import { type Answer, NOT_FOUND, problem } from './send.ts';
import type { Asked, Desk } from './service.ts';
import { type StoredUpload, uploadShape } from './shapes.ts';

/** Sizes that are refused, and lines that a file may have. Source: specification, "Limits". */
const TOO_LARGE: Readonly<Record<string, number>> = {
  source_video: 1024 ** 3,
  subtitle_file: 10 * 1024 ** 2,
};
const MOST_LINES = 10_000;

/** Whether the bytes are what they are said to be. */
function isUsable({ purpose, bytes }: StoredUpload): boolean {
  if (bytes === null) return false;
  if (purpose === 'source_video') return isMp4(bytes);
  const text = bytes.toString('utf8');
  const lines = Buffer.from(text).equals(bytes) ? readSrt(text) : [];
  return (
    lines.length > 0 && lines.length <= MOST_LINES && lines.every(({ start_ms, end_ms }) => start_ms < end_ms)
  );
}

export function answerUploads(desk: Desk, { method, segments, fields, query, owner }: Asked): Answer {
  const { has, uploads } = desk;
  const [, id, action] = segments;
  if (id === undefined) {
    if (method === 'POST') return reserve(desk, fields, owner);
    const own = [...uploads.values()].filter((upload) => upload.owner === owner);
    return listPage(desk, 'uploads', query, own, (upload) => uploadShape(desk, upload));
  }
  const upload = uploads.get(id);
  if (upload === undefined || upload.owner !== owner) return NOT_FOUND;
  const body = () => uploadShape(desk, upload);
  if (action !== 'completions') {
    if (upload.status === 'validating') upload.status = isUsable(upload) ? 'ready' : 'failed';
    return { status: 200, body };
  }
  if (upload.status === 'ready') return { status: 200, body };
  if (upload.status === 'failed') return problem(409, 'TOO_LATE', 'It has failed.');
  if (String(fields.etag).replaceAll('"', '') !== upload.md5) {
    return problem(409, 'CHECKSUM_DIFFERS', 'Another checksum.');
  }
  const isReady = isUsable(upload) && (has('completion-ready') || has('completion-202-ready'));
  upload.status = isReady ? 'ready' : 'validating';
  return { status: has('completion-ready') ? 200 : 202, body };
}

function reserve(desk: Desk, fields: Readonly<Record<string, unknown>>, owner: string): Answer {
  if (!PURPOSES.includes(fields.purpose)) {
    return problem(400, 'INVALID_REQUEST', 'The purpose is unknown.');
  }
  if (Number(fields.size_bytes) >= (TOO_LARGE[String(fields.purpose)] ?? 0)) {
    return problem(413, 'TOO_MUCH', 'The file is too large.');
  }
  const number = desk.nextNumber();
  const upload: StoredUpload = {
    ...{ number, owner, request: fields, purpose: fields.purpose },
    id: desk.makeId(number),
    createdAt: desk.now(),
    status: 'waiting_for_upload',
    bytes: null,
    md5: null,
  };
  desk.uploads.set(upload.id, upload);
  const location = `/v1/uploads/${encodeURIComponent(upload.id)}`;
  return { status: 201, body: () => uploadShape(desk, upload), headers: { location } };
}
