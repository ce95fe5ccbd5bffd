/** Downloads the files of a succeeded job to their places, and finds those that are there already. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Failure } from '../../base/failure.ts';
import type { FindInput } from '../../base/find-input.ts';
import { onDisk } from '../../base/system-error.ts';
import { partOf } from '../../client/download/part-file.ts';
import { type Asset, assetsOf, type Client, type Job } from '../../client/index.ts';
import { RESULT_FORMATS, type ResultFormat } from '../../protocol/result-formats.ts';
import { isTerminal } from '../../protocol/states.ts';
import { type Delivery, templateFor } from '../inputs/delivery.ts';
import { pathExists } from '../inputs/file-status.ts';
import type { ItemFile, KeptResult } from '../item.ts';
import { nameWork } from '../kept-tracks.ts';
import { storeFiles } from '../records/attempts.ts';
import { nameLanguage, resultPath, withoutUnknown } from '../result-name.ts';
import { claimPlace, type Output, type OutputRows, type Placing, publish } from './publish.ts';
import {
  type AddTracks,
  type DownloadMaking,
  findVersion,
  isSameFile,
  makeOfDownload,
  removeScratch,
  withTracks,
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

/** Where a delivery records what it does, and finds what earlier deliveries of the job did. */
export interface DeliveryRecord extends OutputRows {
  /** The results, if an earlier delivery left them in place and need not be checked again; null to deliver them. */
  findDelivered?(results: readonly ResultFile[]): Promise<readonly DeliveredFile[] | null>;
  /** True downloads results again that earlier deliveries left in place. */
  readonly isAnew?: boolean;
  /** Records in one transaction that all files are in place. */
  noteDelivered(files: readonly DeliveredFile[], results: readonly ResultFile[]): Promise<void>;
}

export interface DownloadResultsOptions {
  readonly client: Client;
  readonly naming: ResultNaming;
  /** An existing file counts as the result if its bytes are those that the service states or a row of the job. */
  readonly record: DeliveryRecord;
  readonly addTracks: AddTracks;
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
  job: Job,
  results: readonly ResultFile[],
  options: DownloadResultsOptions,
): Promise<readonly DeliveredFile[]> {
  const { record, findInput, naming } = options;
  const placing = { rows: record, findInput, overwrite: naming.delivery.existing === 'replace' };
  const fetched: FetchedFile[] = [];
  try {
    for (const result of results) fetched.push(await fetchResult(job, result, placing, options));
  } catch (error) {
    // What is whole gets its name, so that the next command only fetches the rest.
    await publish(outputsOf(fetched), placing, async () => undefined).catch(() => undefined);
    throw error;
  }
  const files = fetched.map(({ file }) => file);
  await publish(outputsOf(fetched), placing, async () => {
    // Before the files count as delivered, since nobody looks at them after a kill then.
    for (const { path, skipped } of files) if (!skipped) await removeScratch(path);
    await record.noteDelivered(files, results);
  });
  return files;
}

interface FetchedFile {
  /** See `Output`. */
  readonly from: string | null;
  readonly file: DeliveredFile;
}

/** Those that were not skipped. */
function outputsOf(fetched: readonly FetchedFile[]): readonly Output[] {
  return fetched.flatMap(({ from, file }) => storeFiles([file]).map((stored) => ({ from, file: stored })));
}

/** Replicas of a service are behind by seconds: a finished job is then reported as processing. */
const BEHIND_MS = 60_000;

async function fetchResult(
  job: Job,
  result: ResultFile,
  placing: Placing,
  options: DownloadResultsOptions,
): Promise<FetchedFile> {
  const { path, spare } = result;
  try {
    return await fetchTo(job, result, placing, options);
  } catch (error) {
    const isTaken = error instanceof Failure && error.facts.code === 'TARGET_EXISTS';
    if (!isTaken || spare === path) throw error;
    return fetchTo(job, { ...result, path: spare }, placing, options);
  }
}

async function fetchTo(
  job: Job,
  { name, asset, format, path }: ResultFile,
  placing: Placing,
  options: DownloadResultsOptions,
): Promise<FetchedFile> {
  const { client, naming, record, findInput, signal, onProgress } = options;
  if (naming.delivery.existing === 'skip' && (await pathExists(path))) {
    return { from: null, file: { asset: name, path, bytes: null, sha256: null, skipped: true } };
  }
  const make = makerOf(format, options);
  const keep = format === RESULT_FORMATS.mp4 ? naming.keep : undefined;
  const kept = nameWork(keep);
  const whole = (from: string | null, { bytes, sha256 }: Pick<ItemFile, 'bytes' | 'sha256'>) => ({
    from,
    file: { asset: name, path, bytes, sha256, kept, skipped: false },
  });
  const { size_bytes: size, sha256: stated } = asset;
  const recorded = (await record.find(path)).filter((row) => row.made === job.id && row.kept === kept);
  const isStated = make === null && size !== null && stated !== null;
  const versions = isStated ? [{ path, size, sha256: stated }] : recorded;
  const present = record.isAnew === true ? null : await findVersion(path, versions);
  if (present !== null) return whole(null, { bytes: present.size, sha256: present.sha256 });
  const overwrite = await claimPlace(path, placing);
  const refresh = async () => {
    const read = await client.jobs.get(job.object, job.id, { signal });
    const options = { signal, seen: read, timeoutMs: BEHIND_MS };
    const again = isTerminal(read.status) ? read : await client.jobs.wait(job.object, job.id, options);
    return assetsOf(again).find((each) => each.name === name)?.asset ?? null;
  };
  const common = { format, signal, overwrite, findInput, hash: true, onProgress, refresh };
  if (make === null) {
    const written = await client.download(asset, { ...common, to: path, isPart: true });
    return whole(partOf(path), written);
  }
  const { from, ...written } = await makeOfDownload({
    target: path,
    name: keep === undefined ? basename(path) : 'result.mp4',
    isResult: (file) => isAsset(file, asset),
    fetch: (to) => client.download(asset, { ...common, overwrite: true, to }),
    make,
  });
  return whole(from, written);
}

/** How the result is made of a download; null if it is the download. */
function makerOf(
  format: ResultFormat,
  { naming, addTracks, signal }: DownloadResultsOptions,
): DownloadMaking['make'] | null {
  const { delivery, keep } = naming;
  const { rewrite } = delivery;
  if (format === RESULT_FORMATS.mp4 && keep !== undefined) return withTracks(keep, addTracks, signal);
  if (format !== RESULT_FORMATS.srt || rewrite === undefined) return null;
  return async (download, folder) => {
    const made = join(folder, 'made');
    await onDisk(made, async () => writeFile(made, await rewrite.apply(await readFile(download))));
    return made;
  };
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
