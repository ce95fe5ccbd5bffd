/** Rows of jobs that were just read: a job is asked for again and again while nothing of it changes. */
import { LIMITS } from '../../protocol/limits.ts';
import type { Store } from '../store/store.ts';
import type { JobRow, OwnJob } from './rows.ts';

export interface RecentRows {
  /** The row as `read` gives it, read again only if the store may have changed since. */
  find(job: OwnJob, read: (job: OwnJob) => JobRow | undefined): JobRow | undefined;
}

/** More than one service has jobs under way; beyond it, all are forgotten at once. */
const MOST_ROWS = 500;
const VERSION = 'PRAGMA data_version';

/** Another process's change is seen in the next turn of the event loop, this one's at once. */
export function createRecentRows(store: Store): RecentRows {
  const rows = new Map<string, JobRow>();
  let looked = false;
  let seenVersion: number | null = null;
  let seenWrites = -1;
  const forgetChanged = () => {
    if (!looked) {
      looked = true;
      setImmediate(() => {
        looked = false;
      });
      const version = store.get<{ data_version: number }>(VERSION)?.data_version ?? null;
      if (version !== seenVersion || version === null) rows.clear();
      seenVersion = version;
    }
    if (seenWrites !== store.writes()) rows.clear();
    seenWrites = store.writes();
  };
  return {
    find(job, read) {
      forgetChanged();
      const name = `${job.keyId} ${job.kind} ${job.id}`;
      const known = rows.get(name);
      if (known !== undefined) return known.created_at > job.now - LIMITS.retentionMs ? known : undefined;
      const row = read(job);
      if (rows.size >= MOST_ROWS) rows.clear();
      if (row !== undefined) rows.set(name, row);
      return row;
    },
  };
}
