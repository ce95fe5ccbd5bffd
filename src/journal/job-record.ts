/** The local record of jobs: the kind behind a bare id, ids to complete, results that are still to be fetched. */
import { join } from 'node:path';
import type { JobKind } from '../protocol/kind-names.ts';
import type { JobStatus } from '../protocol/states.ts';
import {
  filesPublished,
  foldJobs,
  isForgotten,
  type JobEntry,
  type NewJob,
  type PublishedFile,
  pickLiveJobs,
} from './job-entries.ts';
import type { Damage } from './record-line.ts';
import { openSharedLog } from './shared-log.ts';
import { stripAddress } from './without-secrets.ts';

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
  /** Those of `list` whose results are to be had or still to come, oldest first: its links lapse first. */
  listUnfetched(): Promise<readonly JobEntry[]>;
  /** Places of the file that cannot be read any more. */
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
    async notePublishing(id, { path, sha256, size }) {
      const at = new Date(now()).toISOString();
      await log.append({ type: 'job_publishing', profile, id, at, path, sha256, size });
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
