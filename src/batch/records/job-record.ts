/** The local record of jobs: the kind behind a bare id, ids to complete, results that are still to be downloaded. */

import type { JobKind } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { JobStatus } from '../../protocol/states.ts';
import type { KeptResult } from '../item.ts';
import type { StoredFile } from './attempts.ts';
import type { RecordDatabase, Row } from './database.ts';
import { openMachineDatabase, readMachine } from './machine-database.ts';
import { stripAddress } from './secrets.ts';

/** A job that this machine has made. Times are RFC 3339. */
export interface NewJob {
  readonly id: string;
  readonly kind: JobKind;
  readonly created_at: string;
  readonly client_reference: string | null;
  /** The name of the command, without its arguments. */
  readonly command: string;
  /** Paths, addresses without their query, upload ids. */
  readonly inputs: readonly string[];
  readonly output_folder: string | null;
  /** Files among the inputs, absolute: no result may be written over them. */
  readonly input_files?: readonly string[] | undefined;
  /** Language and voice of a dub. */
  readonly speech?: { readonly language: string; readonly voice_mode: string } | undefined;
  /** Parts of the result names. Missing for files that only vloc reads. */
  readonly naming?: JobNaming | undefined;
}

interface JobNaming {
  /** Below the output folder, `/` between folders. */
  readonly folder: string;
  readonly template: string;
  readonly stem: string;
  /** As it was asked for; null for one that the job finds out, and for results in none. */
  readonly language: string | null;
  /** Format of subtitles, if the run converts them from the service's own format. */
  readonly format: string | null;
  /** SHA-256 of the subtitles whose form a translation has; absent for a result that is written anew. */
  readonly sourceSha256?: string | undefined;
  /** What the run does to the video. */
  readonly keep?: KeptResult | undefined;
}

export interface JobEntry extends NewJob {
  readonly profile: string;
  /** As this machine saw it last. */
  readonly state: JobStatus;
  /** Files with the results, or null while they have not been fetched. */
  readonly downloaded: readonly string[] | null;
}

/** A file that was about to get its name. */
type PublishedFile = Pick<StoredFile, 'path' | 'sha256' | 'size' | 'kept'>;

const hasEnded = (state: unknown) => state !== 'queued' && state !== 'processing';

/** The service forgets a job 7 days after it was made. Source: specification, "Limits". */
function isForgotten(job: Pick<JobEntry, 'created_at'>, now: number): boolean {
  return now - Date.parse(job.created_at) >= LIMITS.retentionMs;
}

/** All writing resolves when it is on the disk and throws Failure (`disk`). */
export interface JobRecord {
  /** Notes a job that the service has accepted. Addresses among the inputs are kept without their query. */
  add(job: NewJob): Promise<void>;
  /** Notes a state; one that was noted already costs nothing. */
  see(id: string, state: JobStatus): Promise<void>;
  /** Notes a file that is whole, before it gets its name. */
  notePublishing(id: string, file: PublishedFile): Promise<void>;
  /** The files of a job that were noted so. */
  published(id: string): Promise<readonly PublishedFile[]>;
  /** Notes that the results are here, with the paths of the files. */
  markDownloaded(id: string, files: readonly string[]): Promise<void>;
  /** Jobs that the service still knows, newest first. */
  list(): Promise<readonly JobEntry[]>;
  /** The jobs of this profile, however old, in the order in which they were made: no clock decides which are there. */
  listAll(): Promise<readonly JobEntry[]>;
  /** Jobs of `list` whose results can be downloaded now or later, soonest expiry first. */
  listUnfetched(): Promise<readonly JobEntry[]>;
}

/** A wrong clock must not remove jobs that the service still has. */
const KEPT_MS = 4 * LIMITS.retentionMs;

/**
 * @param stateDir the state folder of vloc; the record is shared by all profiles and processes
 * @param profile see `profileId`
 * @param now milliseconds since the epoch
 */
export function openJobRecord(stateDir: string, profile: string, now: () => number): JobRecord {
  const { write, find } = openMachineDatabase(stateDir);
  const readAll = async () => (await find('jobs', { profile })).map(readJob);
  const readJobs = async () => (await readAll()).filter((job) => !isForgotten(job, now()));
  let isPruned = false;
  return {
    add: (job) =>
      write((database) => {
        if (!isPruned) removeOld(database, now());
        isPruned = true;
        const key = { profile, id: job.id };
        if (database.find('jobs', key).length > 0) return;
        const entry = { ...job, inputs: job.inputs.map(stripAddress) };
        database.change('jobs', key, { job: JSON.stringify(entry), state: 'queued', downloaded: null });
      }),
    async see(id, state) {
      const [known] = await find('jobs', { profile, id });
      if (known === undefined || known.state === state) return;
      await write((database) => {
        const [job] = database.find('jobs', { profile, id });
        // Two processes may watch one job, and the slower one must not make an ended job run again.
        if (job !== undefined && !hasEnded(job.state)) database.change('jobs', { profile, id }, { state });
      });
    },
    notePublishing: (job, { path, sha256, size, kept = null }) =>
      write((database) => {
        const at = new Date(now()).toISOString();
        database.change('publications', { profile, job, path, sha256 }, { size, kept, at });
      }),
    published: async (job) => (await find('publications', { profile, job })).map(readPublication),
    async markDownloaded(id, files) {
      await write((database) => {
        const [job] = database.find('jobs', { profile, id });
        if (job !== undefined)
          database.change('jobs', { profile, id }, { downloaded: JSON.stringify(files) });
      });
    },
    list: async () => (await readJobs()).reverse(),
    listAll: readAll,
    listUnfetched: async () => (await readJobs()).filter(isUnfetched),
  };
}

/** Jobs of all profiles that services still know, newest first. */
export async function readRecentJobs(stateDir: string, now: number): Promise<readonly JobEntry[]> {
  return (await readKeptJobs(stateDir)).filter((job) => !isForgotten(job, now));
}

/** Jobs of all profiles that are still in the record, newest first. */
export async function readKeptJobs(stateDir: string): Promise<readonly JobEntry[]> {
  return ((await readMachine(stateDir)).rows.get('jobs') ?? []).map(readJob).reverse();
}

function removeOld(database: RecordDatabase, now: number): void {
  for (const { profile = null, id = null, ...row } of database.find('jobs'))
    if (now - Date.parse(readJob(row).created_at) > KEPT_MS) database.remove('jobs', { profile, id });
  for (const { profile = null, job = null, at } of database.find('publications'))
    if (now - Date.parse(String(at)) > KEPT_MS) database.remove('publications', { profile, job });
}

/** A cast of what this file has written; the checksum of the row fits. */
function readJob({ profile, job, state, downloaded }: Row): JobEntry {
  return {
    ...(JSON.parse(String(job)) as NewJob),
    profile: String(profile),
    state: state as JobStatus,
    downloaded: typeof downloaded === 'string' ? (JSON.parse(downloaded) as string[]) : null,
  };
}

function readPublication({ path, sha256, size, kept }: Row): PublishedFile {
  const file = { path: String(path), sha256: String(sha256), size: Number(size) };
  return typeof kept === 'string' ? { ...file, kept } : file;
}

function isUnfetched({ state, downloaded }: JobEntry): boolean {
  return downloaded === null && state !== 'failed' && state !== 'cancelled';
}
