/** Finished jobs to files on this disk. */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { partOf } from '../../client/download/part-file.ts';
import {
  type Asset,
  assetsOf,
  type Client,
  type DownloadOptions,
  Failure,
  type Job,
} from '../../client/index.ts';
import type { FindInput } from '../../disk/find-input.ts';
import { makeFolder } from '../../disk/folder.ts';
import type { StoredFile } from '../../journal/next-step.ts';
import { RESULT_FORMATS, type ResultFormat } from '../../protocol/result-formats.ts';
import type { ItemFile } from '../item.ts';
import { type Delivery, templateFor } from '../plan/delivery.ts';
import { exists } from '../plan/file-status.ts';
import { nameLanguage, resultPath } from '../plan/result-name.ts';
import { rewriteResult } from './rewrite-result.ts';
import { isSameFile } from './same-file.ts';

/** A result on this disk. */
export interface DeliveredFile extends ItemFile {
  /** True when it was there before and --skip-existing left it alone. */
  readonly skipped: boolean;
}

/** What names the files of a job: never its answer, which may leave out what was asked. */
export interface Naming {
  readonly stem: string;
  /** See `nameLanguage`: what was asked, and what the job has found. */
  readonly asked: string | null;
  readonly found: string | null;
  readonly delivery: Delivery;
}

interface DeliverOptions extends Naming {
  /**
   * Takes a file that is there already for the result when it has its bytes, by what the service states or by one of these
   * records: an earlier run may have been killed after it. Omitted: no file is adopted.
   */
  readonly adopt?: readonly StoredFile[] | undefined;
  /** Awaited before a file gets its name, unless the service states what it is known by. */
  readonly beforePublish?: ((file: StoredFile) => Promise<void>) | undefined;
  /** Takes the SHA-256 also where the service states none, for a record; it costs as much as writing the file. */
  readonly hash?: boolean;
  /** See `Inputs`. */
  readonly findInput: FindInput;
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
  const { existing } = options.delivery;
  for (const { name, asset, format, path } of resultFiles(job, options)) {
    if (existing === 'skip' && (await exists(path))) {
      files.push({ asset: name, path, bytes: null, sha256: null, skipped: true });
      continue;
    }
    const rewrite = format === RESULT_FORMATS.srt ? options.delivery.rewrite : undefined;
    const adopted = rewrite === undefined ? await adopt(path, asset, options.adopt) : null;
    if (adopted !== null) {
      files.push({ asset: name, path, ...adopted, skipped: false });
      continue;
    }
    await makeFolder(dirname(path));
    const refresh = async () => {
      const again = await client.jobs.get(job.object, job.id, { signal: options.signal });
      return assetsOf(again).find((each) => each.name === name)?.asset ?? null;
    };
    const { signal, onProgress, findInput } = options;
    const overwrite = existing === 'replace';
    const { hash } = options;
    const common = { format, signal, overwrite, findInput, hash, onProgress, refresh };
    const fetch = (to: string) => client.download(asset, { ...common, to });
    if (rewrite !== undefined) {
      const made = await rewriteResult(fetch, path, rewrite, overwrite, findInput);
      files.push({ asset: name, path, ...made, skipped: false });
      continue;
    }
    const beforePublish = isKnown(asset) ? undefined : noteFile(name, options);
    const done = await client.download(asset, { ...common, to: path, beforePublish });
    files.push({ asset: name, path: done.path, bytes: done.bytes, sha256: done.sha256, skipped: false });
  }
  return files;
}

/** A file of a result, and where it goes. */
export interface ResultFile {
  readonly name: string;
  readonly asset: Asset;
  readonly format: ResultFormat;
  readonly path: string;
}

/** The files of a succeeded job. @throws Failure of category usage for a template that is not usable */
export function resultFiles(job: Job, { stem, asked, found, delivery }: Naming): readonly ResultFile[] {
  const template = templateFor(delivery, job.object);
  const lang = nameLanguage(job.object, asked, found);
  return assetsOf(job).map(({ name, asset, kindPart }) => {
    const { label, extension } = kindPart;
    const parts = { stem, lang, asset: label, id: job.id, ext: extension };
    const path = resultPath(delivery.folder, template, parts);
    return { name, asset, format: RESULT_FORMATS[kindPart.format], path };
  });
}

/** Whether the service states what the file can be known by. */
export function isKnown({ size_bytes: bytes, sha256 }: Asset): boolean {
  return bytes !== null && sha256 !== null;
}

/** Records a file before it gets its name. */
function noteFile(asset: string, { beforePublish }: DeliverOptions): DownloadOptions['beforePublish'] {
  if (beforePublish === undefined) return undefined;
  return async ({ path, bytes: size, sha256 }) => {
    if (sha256 !== null) await beforePublish({ asset, path, size, sha256 });
  };
}

/** Size and hash of a file that is the asset already; null when it is another, or nobody can tell. */
async function adopt(path: string, asset: Asset, records: readonly StoredFile[] | undefined) {
  if (records === undefined) return null;
  const { size_bytes, sha256: stated } = asset;
  const recorded = records.filter((record) => record.path === path);
  const candidates =
    size_bytes !== null && stated !== null ? [{ size: size_bytes, sha256: stated }] : recorded;
  for (const { size: bytes, sha256 } of candidates) {
    if (!(await isSameFile(path, { bytes, sha256 }))) continue;
    // A run that was killed while it gave the file its name has left it the name of a part too.
    await rm(partOf(path), { force: true });
    return { bytes, sha256 };
  }
  return null;
}

/** The language that the job says that its result is in; null where it does not say. */
export function foundLanguage({ result }: Pick<Job, 'result'>): string | null {
  const found = result?.language;
  return typeof found === 'string' && found !== '' ? found : null;
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
      advice:
        'The reservation was released; the command that made the job makes a new one when it is run again.',
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
