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
 * The records of the profile that a connection uses; nothing is read or written before it is needed.
 * @param jobs how many jobs the user allows at once, where that is more than the service's own limit
 * @param warn is told when a run waits for slots of others
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
