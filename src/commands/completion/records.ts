/** Profiles, jobs and uploads of this machine, read from their files without a lock. */
import { basename, join } from 'node:path';
import { configFolder, stateFolder } from '../../profiles/folders.ts';
import { LOCAL } from '../../profiles/profile.ts';
import { openProfileStore } from '../../profiles/store.ts';
import type { Offered, Surroundings } from './offered.ts';

/** The embedded service, then the stored profiles. */
export async function listProfiles({ env, platform }: Surroundings): Promise<readonly Offered[]> {
  const local = { value: LOCAL, explains: 'the embedded service' };
  const store = openProfileStore(configFolder(env, platform), () => undefined);
  const { profiles } = await store.read().catch(() => ({ profiles: [] }));
  return [local, ...profiles.map(({ name, base_url }) => ({ value: name, explains: base_url }))];
}

/** Jobs that were made on this machine and that a service still knows, the newest first. */
export async function listJobs({ env, platform, now }: Surroundings): Promise<readonly Offered[]> {
  const [{ readLog }, { JOB_RECORD_FILE }, { foldJobs, isForgotten }] = await Promise.all([
    import('../../journal/append-log.ts'),
    import('../../journal/job-record.ts'),
    import('../../journal/job-entries.ts'),
  ]);
  const { records } = await readLog(join(stateFolder(env, platform), JOB_RECORD_FILE));
  const jobs = [...foldJobs(records).values()].filter((job) => !isForgotten(job, now()));
  return jobs.reverse().map(({ id, kind, state, inputs }) => ({
    value: id,
    explains: [kind, state, ...inputs.slice(0, 1).map((input) => basename(input))].join(', '),
  }));
}

/** Uploads that were made on this machine and can still be used. */
export async function listUploads({ env, platform, now }: Surroundings): Promise<readonly Offered[]> {
  const [{ readLog }, { foldUploads, UPLOAD_RECORD_FILE }] = await Promise.all([
    import('../../journal/append-log.ts'),
    import('../../journal/upload-record.ts'),
  ]);
  const { records } = await readLog(join(stateFolder(env, platform), UPLOAD_RECORD_FILE));
  return foldUploads(records, now()).map(({ upload_id, purpose, size }) => ({
    value: upload_id,
    explains: `${purpose}, ${size} bytes`,
  }));
}
