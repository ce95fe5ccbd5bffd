/** Finished jobs to files on this disk. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../client/failure.ts';
import type { Job } from '../../client/index.ts';
import { assetsOf, type Client } from '../../client/index.ts';
import { exists } from './existing-file.ts';
import type { Delivery } from './job-plan.ts';
import { defaultTemplate, resultPath } from './result-name.ts';

/** A result on this disk. */
export interface DeliveredFile {
  readonly asset: string;
  readonly path: string;
  readonly bytes: number | null;
  readonly sha256: string | null;
  /** True when it was there before and --skip-existing left it alone. */
  readonly skipped: boolean;
}

export interface DeliverOptions {
  readonly stem: string;
  readonly delivery: Delivery;
  readonly signal: AbortSignal;
  readonly onProgress: (bytes: number, total: number | null) => void;
}

/**
 * Downloads every file of a succeeded job, one after the other.
 * @throws Failure of category usage for a file that is there and may not be replaced, disk, expired or temporary
 */
export async function deliverResults(
  client: Client,
  job: Job,
  options: DeliverOptions,
): Promise<readonly DeliveredFile[]> {
  const files: DeliveredFile[] = [];
  for (const { name, asset, kindPart } of assetsOf(job)) {
    const path = resultPath(
      options.delivery.folder,
      options.delivery.template || defaultTemplate(job.object),
      {
        stem: options.stem,
        lang: languageOf(job),
        asset: kindPart.label,
        id: job.id,
        ext: kindPart.extension,
      },
    );
    if (options.delivery.existing === 'skip' && (await exists(path))) {
      files.push({ asset: name, path, bytes: null, sha256: null, skipped: true });
      continue;
    }
    await mkdir(dirname(path), { recursive: true });
    const done = await client.download(asset, {
      to: path,
      signal: options.signal,
      overwrite: options.delivery.existing === 'replace',
      onProgress: options.onProgress,
      refresh: async () => {
        const again = await client.jobs.get(job.object, job.id, { signal: options.signal });
        return assetsOf(again).find((each) => each.name === name)?.asset ?? null;
      },
    });
    files.push({ asset: name, path: done.path, bytes: done.bytes, sha256: done.sha256, skipped: false });
  }
  return files;
}

/** The language of the result: what the job found, else what was asked of it. */
function languageOf(job: Job): string {
  const found = job.result?.language;
  if (typeof found === 'string') return found;
  const asked = job.input?.target_language;
  return typeof asked === 'string' ? asked : '';
}

/** The failure that a job which did not succeed ends a command with, or null for one that did. */
export function jobFailure(job: Job): Failure | null {
  if (job.status === 'succeeded') return null;
  if (job.status === 'cancelled') {
    return new Failure({
      category: 'job',
      code: 'JOB_CANCELLED',
      message: 'the job was cancelled',
      jobId: job.id,
    });
  }
  const { code, message, retryable } = job.error ?? {
    code: 'JOB_FAILED',
    message: 'the service gave no reason',
    retryable: false,
  };
  return new Failure({
    category: 'job',
    code,
    message,
    retryable,
    jobId: job.id,
    advice: retryable
      ? 'The reservation was released; run the same command again.'
      : 'The reservation was released; running the same again will not help.',
  });
}
