/** Progress of uploads. */
import type { Upload, UploadProgress } from '../../client/index.ts';
import type { Context, Progress } from '../../context/context.ts';
import { formatDuration } from '../../context/format.ts';
import { formatBytes } from '../../errors/amounts.ts';

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
