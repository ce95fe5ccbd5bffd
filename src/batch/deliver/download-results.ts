/** Downloads the files of a succeeded job to their places, and finds those that are there already. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../../base/failure.ts';
import type { FindInput } from '../../base/find-input.ts';
import { makeFolder } from '../../base/folder.ts';
import { onDisk } from '../../base/system-error.ts';
import { partOf, prepareTarget } from '../../client/download/part-file.ts';
import { type Asset, assetsOf, type Client, type DownloadOptions, type Job } from '../../client/index.ts';
import { RESULT_FORMATS, type ResultFormat } from '../../protocol/result-formats.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { ItemFile, KeptResult } from '../item.ts';
import { type Delivery, type SubtitleRewrite, templateFor } from '../plan/delivery.ts';
import { pathExists } from '../plan/file-status.ts';
import { nameLanguage, resultPath, withoutUnknown } from '../plan/result-name.ts';
import type { StoredFile } from '../records/intents.ts';
import type { KeptTracks } from '../records/kept-tracks.ts';
import {
  type AddTracks,
  isAnyOf,
  isSameFile,
  placeFile,
  removeScratch,
  type WrittenFile,
  writeWithTracks,
} from './result-file.ts';

/** A result on this disk. */
export interface DeliveredFile extends ItemFile {
  /** True for a file that existed before and that --skip-existing kept. */
  readonly skipped: boolean;
}

/** Parts of the names of result files. The job itself may omit options, so it is not a source. */
export interface ResultNaming {
  readonly stem: string;
  /** Languages, see `nameLanguage`: the one asked for, and the one that the job detected. */
  readonly asked: string | null;
  readonly found: string | null;
  readonly delivery: Delivery;
  /** Tracks that a video gets before it is named. */
  readonly keep?: KeptResult | undefined;
}

interface DownloadResultsOptions {
  readonly delivery: Delivery;
  readonly keep: KeptResult | undefined;
  readonly addTracks: AddTracks;
  /**
   * Files of earlier deliveries, one of which may have been killed before it recorded the end. An existing file counts as the
   * result if its bytes are those that the service states or one of these records. Undefined: no existing file does.
   */
  readonly known: readonly StoredFile[] | undefined;
  /** Results of earlier jobs of the same item, which this result may replace while their bytes are those recorded. */
  readonly replaces: readonly StoredFile[];
  /** Awaited before a file gets its name, unless the service states its size and hash. */
  readonly beforePublish: (file: StoredFile) => Promise<void>;
  /** See `Inputs`. */
  readonly findInput: FindInput;
  readonly signal: AbortSignal;
  readonly onProgress: (bytes: number, total: number | null) => void;
}

/**
 * Downloads every file of a succeeded job, one after the other. The SHA-256 is also computed where the service states none.
 * @throws Failure: `usage` for an existing file that may not be replaced, `disk`, `expired`, `temporary`
 */
export async function downloadResults(
  client: Client,
  job: Job,
  results: readonly ResultFile[],
  options: DownloadResultsOptions,
): Promise<readonly DeliveredFile[]> {
  const files: DeliveredFile[] = [];
  for (const result of results) files.push(await downloadResult(client, job, result, options));
  return files;
}

/** Replicas of a service are behind by seconds: a finished job is then reported as processing. */
const BEHIND_MS = 60_000;

async function downloadResult(
  client: Client,
  job: Job,
  result: ResultFile,
  options: DownloadResultsOptions,
): Promise<DeliveredFile> {
  const { path, spare } = result;
  try {
    return await downloadTo(client, job, result, options);
  } catch (error) {
    const isTaken = error instanceof Failure && error.facts.code === 'TARGET_EXISTS';
    if (!isTaken || spare === path) throw error;
    return downloadTo(client, job, { ...result, path: spare }, options);
  }
}

async function downloadTo(
  client: Client,
  job: Job,
  { name, asset, format, path }: ResultFile,
  options: DownloadResultsOptions,
): Promise<DeliveredFile> {
  const { delivery, known, replaces, beforePublish, findInput, signal, onProgress, addTracks } = options;
  if (delivery.existing === 'skip' && (await pathExists(path))) {
    return { asset: name, path, bytes: null, sha256: null, skipped: true };
  }
  const rewrite = format === RESULT_FORMATS.srt ? delivery.rewrite : undefined;
  const keep = format === RESULT_FORMATS.mp4 ? options.keep : undefined;
  const kept = keep?.tracks;
  const present = rewrite === undefined ? await findPresent(path, asset, known, kept) : null;
  if (present !== null) {
    // A process that was killed after it named the file may have left the download.
    if (format === RESULT_FORMATS.mp4) await removeScratch(path);
    return { asset: name, path, ...present, kept, skipped: false };
  }
  await onDisk(path, () => makeFolder(dirname(path)));
  const refresh = async () => {
    const read = await client.jobs.get(job.object, job.id, { signal });
    const options = { signal, seen: read, timeoutMs: BEHIND_MS };
    const again = isTerminal(read.status) ? read : await client.jobs.wait(job.object, job.id, options);
    return assetsOf(again).find((each) => each.name === name)?.asset ?? null;
  };
  const isReplaced = delivery.existing !== 'replace' && (await isAnyOf(path, replaces));
  const overwrite = delivery.existing === 'replace' || isReplaced;
  // The user may have edited it during the download.
  const checkReplaced = async () => {
    if (isReplaced && !(await isAnyOf(path, replaces))) await prepareTarget(path, false);
  };
  const common = { format, signal, overwrite, findInput, hash: true, onProgress, refresh };
  if (rewrite !== undefined) {
    const fetch = (to: string) => client.download(asset, { ...common, to });
    const written = await rewriteResult(fetch, path, rewrite, overwrite, findInput);
    return { asset: name, path, ...written, skipped: false };
  }
  if (keep !== undefined) {
    const written = await writeWithTracks({
      target: path,
      keep,
      add: addTracks,
      isResult: (file) => isAsset(file, asset),
      fetch: (to) => client.download(asset, { ...common, overwrite: true, to }),
      beforePublish: async ({ bytes: size, sha256 }) => {
        await checkReplaced();
        await beforePublish({ asset: name, path, size, sha256, kept });
      },
      ...{ overwrite, findInput, signal },
    });
    return { asset: name, path, ...written, kept, skipped: false };
  }
  const note: DownloadOptions['beforePublish'] = async ({ path: target, bytes: size, sha256 }) => {
    await checkReplaced();
    if (sha256 !== null && !isVerifiable(asset))
      await beforePublish({ asset: name, path: target, size, sha256 });
  };
  const toPath = { ...common, to: path, beforePublish: note };
  const { bytes, sha256, path: written } = await client.download(asset, toPath);
  if (format === RESULT_FORMATS.mp4) await removeScratch(path);
  return { asset: name, path: written, bytes, sha256, skipped: false };
}

/** A file that a result consists of, and its path. */
export interface ResultFile {
  readonly name: string;
  readonly asset: Asset;
  readonly format: ResultFormat;
  readonly path: string;
  /** With the tag of an unknown language, if the path has none and is taken by another file; otherwise the path. */
  readonly spare: string;
}

/** The files of a succeeded job. @throws Failure of category usage for a template that is not usable */
export function resultFiles(job: Job, { stem, asked, found, delivery }: ResultNaming): readonly ResultFile[] {
  const template = templateFor(delivery, job.object);
  const lang = nameLanguage(job.object, asked, found);
  return assetsOf(job).map(({ name, asset, kindPart }) => {
    const { label, extension } = kindPart;
    const parts = { stem, lang, asset: label, id: job.id, ext: extension };
    const path = resultPath(delivery.folder, withoutUnknown(template, asked, found), parts);
    const spare = resultPath(delivery.folder, template, parts);
    return { name, asset, format: RESULT_FORMATS[kindPart.format], path, spare };
  });
}

/** Whether the service states size and hash, so that a file can be compared with the asset. */
export function isVerifiable({ size_bytes: bytes, sha256 }: Asset): boolean {
  return bytes !== null && sha256 !== null;
}

/** False also if the service does not state size and hash. */
export async function isAsset(path: string, { size_bytes: bytes, sha256 }: Asset): Promise<boolean> {
  return bytes !== null && sha256 !== null && (await isSameFile(path, { bytes, sha256 }));
}

/**
 * Size and hash of an existing file with the bytes of the asset, or with those that it has after tracks were added; null if
 * there is none, or if that cannot be verified.
 */
async function findPresent(
  path: string,
  asset: Asset,
  known: readonly StoredFile[] | undefined,
  kept: KeptTracks | undefined,
) {
  if (known === undefined) return null;
  const { size_bytes, sha256: stated } = asset;
  const recorded = known.filter((record) => record.path === path && record.kept === kept);
  const isStated = kept === undefined && size_bytes !== null && stated !== null;
  const candidates = isStated ? [{ size: size_bytes, sha256: stated }] : recorded;
  for (const { size: bytes, sha256 } of candidates) {
    if (!(await isSameFile(path, { bytes, sha256 }))) continue;
    // A process that was killed while it renamed the file may have left the part file.
    await rm(partOf(path), { force: true });
    return { bytes, sha256 };
  }
  return null;
}

/**
 * Writes a subtitle in another format than the service's own. An existing file with the same bytes is kept.
 * @param fetch downloads the SRT to a path in an existing folder
 * @throws Failure as `fetch` and `placeFile` do
 */
async function rewriteResult(
  fetch: (to: string) => Promise<unknown>,
  target: string,
  rewrite: SubtitleRewrite,
  overwrite: boolean,
  findInput: FindInput,
): Promise<WrittenFile> {
  const aside = await mkdtemp(join(tmpdir(), 'vloc-subtitle-'));
  try {
    // Messages name the download.
    const fetched = join(aside, basename(target));
    await fetch(fetched);
    const content = await rewrite.apply(await readFile(fetched));
    const facts = { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
    // A run that was killed right after writing it left the same file.
    if (await isSameFile(target, facts)) return facts;
    const made = `${fetched}.made`;
    await writeFile(made, content);
    await placeFile(made, target, overwrite, findInput);
    return facts;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}
