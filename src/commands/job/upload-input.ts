/** Inputs made into the `source` or `subtitle` of a request. */
import { extname } from 'node:path';
import type { Upload, UploadProgress } from '../../client/index.ts';
import type { SubtitleInput } from '../../protocol/requests.ts';
import type { Connection } from '../connection.ts';
import type { Context, Progress } from '../context.ts';
import { formatBytes, formatDuration } from '../format.ts';
import { event } from './follow-job.ts';
import type { JobInput } from './job-input.ts';
import { linesOfJob } from './lines-of-job.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.mp4': 'video/mp4',
  '.m4v': 'video/x-m4v',
  '.mov': 'video/quicktime',
  '.avi': 'video/x-msvideo',
  '.mpeg': 'video/mpeg',
  '.mpg': 'video/mpeg',
};

/** Uploads a file and waits until the service has validated it; the other inputs are used as they are. */
export async function provideInput(
  { client, everyMs }: Pick<Connection, 'client' | 'everyMs'>,
  input: JobInput,
  context: Context,
  progress: Progress,
): Promise<SubtitleInput> {
  switch (input.type) {
    case 'url':
      return { type: 'url', url: input.url };
    case 'upload':
      return { type: 'upload', upload_id: input.id };
    case 'job':
      return { type: 'lines', lines: await linesOfJob(client, input.reference, context.signal) };
    case 'lines':
      return { type: 'lines', lines: [...input.lines] };
    case 'file': {
      const { upload } = await client.uploads.sendFile(input.path, {
        purpose: 'source_video',
        contentType: CONTENT_TYPES[extname(input.path).toLowerCase()] ?? 'application/octet-stream',
        signal: context.signal,
        ...(everyMs === null ? {} : { everyMs }),
        onProgress: createUploadReport(input.label, context, progress),
      });
      progress.end(input.label, 'done', describeReady(upload, input.bytes));
      event(context, { type: 'uploaded', input: input.label, upload_id: upload.id, bytes: input.bytes });
      return { type: 'upload', upload_id: upload.id };
    }
  }
}

const WAITING_PHASES = {
  reserving: 'uploading',
  completing: 'validating',
  validating: 'validating',
  ready: 'validating',
} as const;

/** Turns counts of bytes into a step with rate and time left. */
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
