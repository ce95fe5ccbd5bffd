/** What is known here of jobs, from records: pure. */
import * as v from 'valibot';
import { JOB_KIND_NAMES } from '../protocol/kind-names.ts';
import { LIMITS } from '../protocol/limits.ts';
import { JOB_STATUSES } from '../protocol/states.ts';
import type { LogRecord } from './record-line.ts';

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
    }),
  ),
});

/** The state that the service told last. */
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
export type PublishedFile = Pick<v.InferOutput<typeof publishing>, 'path' | 'sha256' | 'size'>;

/** The files of a job that were about to get their names: what is there with these bytes is its result. */
export function filesPublished(
  records: Iterable<LogRecord>,
  { profile, id }: { profile: string; id: string },
): readonly PublishedFile[] {
  const files: PublishedFile[] = [];
  for (const record of records) {
    const line = parseJobRecord(record);
    const isOfJob = line?.type === 'job_publishing' && line.profile === profile && line.id === id;
    if (isOfJob) files.push({ path: line.path, sha256: line.sha256, size: line.size });
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
