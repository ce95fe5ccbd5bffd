/** The one place where the records of this machine are opened: jobs and uploads. */

import { openJobRecord } from '../../batch/records/job-record.ts';
import { openUploadRecord } from '../../batch/records/upload-record.ts';
import type { LocalRecords } from '../../batch/run/batch.ts';
import type { Connection } from './connection.ts';

/** Opens the records for the profile of a connection; nothing is read or written until it is needed. */
export function openLocalRecords(
  { stateDir, profile }: Pick<Connection, 'stateDir' | 'profile'>,
  now: () => number,
): LocalRecords {
  return { jobs: openJobRecord(stateDir, profile, now), uploads: openUploadRecord(stateDir, profile, now) };
}
