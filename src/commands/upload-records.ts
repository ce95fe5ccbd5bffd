/** How uploads are shown. */
import type { Upload } from '../client/index.ts';
import { uploadFields } from '../client/read/upload.ts';
import { formatDuration, formatRelative } from '../context/format.ts';
import type { RecordForm } from '../context/records.ts';
import { formatBytes } from '../errors/amounts.ts';

export { uploadFields };

export const UPLOADS: RecordForm<Upload> = {
  plural: 'uploads',
  idOf: (upload) => upload.id,
  columns: [
    { head: 'UPLOAD', field: 'id' },
    { head: { title: 'STATUS', status: true, shrinks: 1 }, field: 'status' },
    { head: { title: 'FOR', shrinks: 4 }, field: 'purpose' },
    { head: { title: 'FILE', shrinks: 3 }, field: 'file_name' },
    { head: 'SIZE', field: 'size_bytes', text: sizeOf },
    { head: { title: 'CONTENT', shrinks: 2 }, field: 'media', text: contentOf },
    { head: 'EXPIRES', field: 'expires_at', text: expiryOf },
  ],
};

function sizeOf({ size_bytes: bytes }: Upload): string {
  return bytes === null ? '-' : formatBytes(bytes);
}

/** `31 s of video`, `12 lines`, or why it was not accepted. */
function contentOf({ error, media, subtitle }: Upload): string {
  if (error !== null) return error.message;
  const seconds = media?.duration_seconds ?? null;
  if (seconds !== null) return `${formatDuration(seconds * 1000)} of video`;
  const lines = subtitle?.lines ?? null;
  return lines === null ? '-' : `${lines} lines`;
}

function expiryOf({ status, expires_at: instant }: Upload, nowMs: number): string {
  return status === 'expired' ? 'expired' : formatRelative(instant, nowMs);
}
