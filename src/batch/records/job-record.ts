/** The local record of jobs: the kind behind a bare id, ids to complete, results that are still to be downloaded. */

import { join } from 'node:path';
import * as v from 'valibot';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { JOB_STATUSES, type JobStatus } from '../../protocol/states.ts';
import { openSharedLog } from './append-log.ts';
import { KEPT_TRACKS } from './kept-tracks.ts';
import type { Damage, LogRecord } from './record-line.ts';
import { stripAddress } from './record-line.ts';

const about = { profile: v.string(), id: v.string() };

/** A job that this machine has made. Times are RFC 3339. */
const created = v.object({
  type: v.literal('job_created'),
  ...about,
  kind: v.picklist(JOB_KIND_NAMES),
  created_at: v.pipe(v.string(), v.isoTimestamp()),
  client_reference: v.nullable(v.string()),
  /** The name of the command, without its arguments. */
  command: v.string(),
  /** Paths, addresses without their query, upload ids. */
  inputs: v.array(v.string()),
  output_folder: v.nullable(v.string()),
  /** Files among the inputs, absolute: no result may be written over them. Missing in records of earlier versions. */
  input_files: v.optional(v.array(v.string())),
  /** What its run names the results by. Missing in records of earlier versions, and for files that only vloc reads. */
  naming: v.optional(
    v.object({
      /** Below the output folder, `/` between folders. */
      folder: v.string(),
      template: v.string(),
      stem: v.string(),
      /** That was asked for; null for one that the job finds out, and for results in none. */
      language: v.nullable(v.string()),
      /** Of subtitles that the run writes in another format than the service's own. */
      format: v.nullable(v.string()),
      /** Tracks that the run adds to the video, and the file that has them. */
      keep: v.optional(
        v.object({
          tracks: v.picklist(KEPT_TRACKS),
          source: v.object({
            path: v.string(),
            bytes: v.number(),
            mtimeMs: v.number(),
            track: v.number(),
            language: v.nullable(v.string()),
          }),
        }),
      ),
    }),
  ),
});

/** The last state that the service reported. */
const seen = v.object({ type: v.literal('job_seen'), ...about, state: v.picklist(JOB_STATUSES) });

/** The results are on this machine. */
const downloaded = v.object({ type: v.literal('job_downloaded'), ...about, files: v.array(v.string()) });

/** The file is whole, checked and synced, and gets its name next. The job may be one that another machine has made. */
const publishing = v.object({
  type: v.literal('job_publishing'),
  ...about,
  at: v.pipe(v.string(), v.isoTimestamp()),
  path: v.string(),
  /** Lower-case hex. */
  sha256: v.string(),
  /** Bytes. */
  size: v.number(),
  /** Tracks of the source that were added on this machine. */
  kept: v.optional(v.picklist(KEPT_TRACKS)),
});

const jobRecord = v.variant('type', [created, seen, publishing, downloaded]);
type JobRecordLine = v.InferOutput<typeof jobRecord>;
export type NewJob = Omit<v.InferOutput<typeof created>, 'type' | 'profile'>;

export interface JobEntry extends Omit<v.InferOutput<typeof created>, 'type'> {
  /** As this machine saw it last. */
  readonly state: (typeof JOB_STATUSES)[number];
  /** Files with the results, or null while they have not been fetched. */
  readonly downloaded: readonly string[] | null;
}

/** Reads one record; null for one of another type or of another version of this program. */
function parseJobRecord(record: LogRecord): JobRecordLine | null {
  const parsed = v.safeParse(jobRecord, record);
  return parsed.success ? parsed.output : null;
}

const entryKey = ({ profile, id }: { profile: string; id: string }) => `${profile}/${id}`;

/** The jobs by profile and id, in the order in which they were made. What comes twice counts once. */
export function foldJobs(records: Iterable<LogRecord>): ReadonlyMap<string, JobEntry> {
  const jobs = new Map<string, JobEntry>();
  for (const record of records) {
    const line = parseJobRecord(record);
    if (line !== null) addLine(jobs, line);
  }
  return jobs;
}

/** A file that was about to get its name. */
type PublishedFile = Pick<v.InferOutput<typeof publishing>, 'path' | 'sha256' | 'size' | 'kept'>;

/** The files of a job that were about to get their names: a file with such a name and these bytes is its result. */
function filesPublished(
  records: Iterable<LogRecord>,
  { profile, id }: { profile: string; id: string },
): readonly PublishedFile[] {
  const files: PublishedFile[] = [];
  for (const record of records) {
    const line = parseJobRecord(record);
    const isOfJob = line?.type === 'job_publishing' && line.profile === profile && line.id === id;
    if (isOfJob) files.push({ path: line.path, sha256: line.sha256, size: line.size, kept: line.kept });
  }
  return files;
}

/** Ignores records that precede creation. Returns whether the job is new. */
function addLine(jobs: Map<string, JobEntry>, line: JobRecordLine): boolean {
  const key = entryKey(line);
  const known = jobs.get(key);
  const next = apply(known, line);
  if (next !== undefined) jobs.set(key, next);
  return known === undefined && next !== undefined;
}

function apply(known: JobEntry | undefined, line: JobRecordLine): JobEntry | undefined {
  if (line.type === 'job_created') {
    const { type: _, ...job } = line;
    return known ?? { ...job, state: 'queued', downloaded: null };
  }
  if (known === undefined) return undefined;
  if (line.type === 'job_publishing') return known;
  if (line.type === 'job_downloaded') return { ...known, downloaded: line.files };
  // Two processes may watch one job, and the slower one must not make an ended job run again.
  return hasEnded(known) ? known : { ...known, state: line.state };
}

const hasEnded = ({ state }: JobEntry) => state !== 'queued' && state !== 'processing';

/** The service forgets a job 7 days after it was made. Source: specification, "Limits". */
export function isForgotten(job: Pick<JobEntry, 'created_at'>, now: number): boolean {
  return now - Date.parse(job.created_at) >= LIMITS.retentionMs;
}

/** The records of jobs that the service still knows, without states that later ones replaced, and all unknown records. */
export function pickLiveJobs(records: Iterable<LogRecord>, now: number): LogRecord[] {
  const jobs = new Map<string, JobEntry>();
  const order: (LogRecord | string)[] = [];
  for (const record of records) {
    const line = parseJobRecord(record);
    if (line === null) order.push(record);
    else if (line.type === 'job_publishing') {
      if (!isForgotten({ created_at: line.at }, now)) order.push(record);
    } else if (addLine(jobs, line)) order.push(entryKey(line));
  }
  return order.flatMap((place): LogRecord[] => {
    if (typeof place !== 'string') return [place];
    const job = jobs.get(place);
    return job === undefined || isForgotten(job, now) ? [] : linesOf(job);
  });
}

function linesOf({ state, downloaded, ...job }: JobEntry): JobRecordLine[] {
  const { profile, id } = job;
  const lines: JobRecordLine[] = [{ type: 'job_created', ...job }];
  if (state !== 'queued') lines.push({ type: 'job_seen', profile, id, state });
  if (downloaded !== null) lines.push({ type: 'job_downloaded', profile, id, files: [...downloaded] });
  return lines;
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
  /** The kind of a job of this profile, or null if this machine has not made it. */
  kindOf(id: string): Promise<JobKind | null>;
  /** Jobs that the service still knows, newest first. */
  list(): Promise<readonly JobEntry[]>;
  /** The jobs of this profile, however old, in the order in which they were made: no clock decides which are there. */
  listAll(): Promise<readonly JobEntry[]>;
  /** Jobs of `list` whose results can be downloaded now or later, soonest expiry first. */
  listUnfetched(): Promise<readonly JobEntry[]>;
  /** Places of the file that can no longer be read. */
  damage(): Promise<readonly Damage[]>;
}

export const JOB_RECORD_FILE = 'jobs.log';

/**
 * @param stateDir the state folder of vloc; the record is shared by all profiles and processes
 * @param profile see `profileId`
 * @param now milliseconds since the epoch
 */
export function openJobRecord(stateDir: string, profile: string, now: () => number): JobRecord {
  const log = openSharedLog(join(stateDir, JOB_RECORD_FILE), (records) => pickLiveJobs(records, now()));

  async function readAll(): Promise<JobEntry[]> {
    const jobs = foldJobs((await log.read()).records).values();
    return [...jobs].filter((job) => job.profile === profile);
  }

  const readJobs = async () => (await readAll()).filter((job) => !isForgotten(job, now()));

  const states = new Map<string, JobStatus>();
  return {
    async add(job) {
      await log.append({ type: 'job_created', profile, ...job, inputs: job.inputs.map(stripAddress) });
    },
    async see(id, state) {
      if (states.get(id) === state) return;
      await log.append({ type: 'job_seen', profile, id, state });
      states.set(id, state);
    },
    async notePublishing(id, { path, sha256, size, kept }) {
      const at = new Date(now()).toISOString();
      await log.append({ type: 'job_publishing', profile, id, at, path, sha256, size, kept });
    },
    published: async (id) => filesPublished((await log.read()).records, { profile, id }),
    markDownloaded: (id, files) => log.append({ type: 'job_downloaded', profile, id, files: [...files] }),
    kindOf: async (id) => (await readJobs()).find((job) => job.id === id)?.kind ?? null,
    list: async () => (await readJobs()).reverse(),
    listAll: readAll,
    listUnfetched: async () => (await readJobs()).filter(isUnfetched),
    damage: async () => (await log.read()).damage,
  };
}

function isUnfetched({ state, downloaded }: JobEntry): boolean {
  return downloaded === null && state !== 'failed' && state !== 'cancelled';
}
