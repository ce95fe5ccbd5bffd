/** How uploads and their progress are shown. */

import { formatBytes } from '../../base/amounts.ts';
import type { Upload, UploadProgress } from '../../client/index.ts';
import { uploadFields } from '../../client/read/upload.ts';
import type { Context, Progress } from '../context/context.ts';
import { formatDuration, formatRelative } from '../context/format.ts';
import type { RecordForm } from '../context/records.ts';

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

const WAITING_PHASES = {
  reserving: 'uploading',
  completing: 'validating',
  validating: 'validating',
  ready: 'validating',
} as const;

/** Shows the progress of an upload with rate and remaining time. */
export function createUploadReport(
  label: string,
  context: Context,
  progress: Progress,
): (upload: UploadProgress) => void {
  const begin = context.io.now();
  return (upload) => {
    if (upload.stage !== 'sending') {
      progress.show(label, { phase: WAITING_PHASES[upload.stage], fraction: null });
      return;
    }
    const seconds = Math.max(0.001, (context.io.now() - begin) / 1000);
    const rate = upload.bytes / seconds;
    const left = rate === 0 ? '' : `, ${formatDuration(((upload.total - upload.bytes) / rate) * 1000)} left`;
    progress.show(label, {
      phase: 'uploading',
      fraction: upload.total === 0 ? 1 : upload.bytes / upload.total,
      detail: `${formatBytes(upload.bytes)} of ${formatBytes(upload.total)}, ${formatBytes(rate)}/s${left}`,
    });
  };
}

/** `ready: 31 s of video, 521 kB`. */
export function describeReady(upload: Upload, bytes: number): string {
  const seconds = upload.media?.duration_seconds ?? null;
  return `${upload.status}: ${seconds === null ? '' : `${formatDuration(seconds * 1000)} of video, `}${formatBytes(bytes)}`;
}
