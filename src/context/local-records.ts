/** The one place where the records of this machine are opened: jobs, uploads, and the slots that processes share. */
import { join } from 'node:path';
import type { LocalRecords } from '../batch/run/batch.ts';
import { openJobRecord } from '../journal/job-record.ts';
import { openSlots } from '../journal/slots.ts';
import { openUploadRecord } from '../journal/upload-record.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { Connection } from './connection.ts';

/** Folder of the slots of a profile, below the state folder. */
const SLOTS_FOLDER = 'slots';

/**
 * Opens the records for the profile of a connection; nothing is read or written until it is needed.
 * @param jobs how many jobs the user allows at a time, if more than the limit of the service
 * @param warn called when a run waits for slots of other processes
 */
export function openLocalRecords(
  { stateDir, profile }: Pick<Connection, 'stateDir' | 'profile'>,
  now: () => number,
  jobs = 0,
  warn: (text: string) => void = () => undefined,
): LocalRecords {
  return {
    jobs: openJobRecord(stateDir, profile, now),
    uploads: openUploadRecord(stateDir, profile, now),
    slots: openSlots(join(stateDir, SLOTS_FOLDER, profile), Math.max(jobs, LIMITS.concurrentTasks), warn),
  };
}
