/** Videos that were put together on this machine, told like the results of jobs: pure. */
import { resolve } from 'node:path';
import type { LogRecord } from '../../journal/record-line.ts';
import { type FinishedVideo, foldStageRecords } from '../stages/records.ts';
import { parseBatchCommand } from './command-record.ts';
import type { ItemReport } from './item-report.ts';

export interface StageReports {
  /** Keys of all items whose videos were ever finished. */
  readonly keys: readonly string[];
  /** The report of an item whose video is finished, told so; every other as it is. */
  readonly tell: (report: ItemReport) => ItemReport;
}

/**
 * @param records of a journal
 * @param folder of the results, absolute
 */
export function readStageReports(records: readonly LogRecord[], folder: string): StageReports {
  const { finished } = foldStageRecords(records);
  const keys = [...finished.keys()];
  const begun = keys.length === 0 ? new Map<string, number>() : lastBegun(records);
  return {
    keys,
    tell: (report) => {
      const video = finished.get(report.key)?.newest;
      if (video === undefined) return report;
      const madeMs = Date.parse(video.at);
      // One job that did all at once, or another export, was begun since and decides how the item stands.
      const sinceMs = Math.max(begun.get(report.key) ?? 0, msOf(report.asked_at));
      return sinceMs > madeMs ? report : asFinished(report, video, folder);
    },
  };
}

/** When a command has named each item last, milliseconds since 1970. */
function lastBegun(records: readonly LogRecord[]): Map<string, number> {
  const begun = new Map<string, number>();
  for (const record of records) {
    const command = parseBatchCommand(record);
    for (const key of command?.items ?? []) begun.set(key, msOf(command?.at ?? null));
  }
  return begun;
}

function asFinished(
  report: ItemReport,
  { at, path, size, sha256 }: FinishedVideo,
  folder: string,
): ItemReport {
  return {
    ...report,
    state: 'done',
    // The jobs are those of its stages.
    job_id: null,
    error: null,
    files: [{ asset: 'video', path: resolve(folder, path), bytes: size, sha256 }],
    created_at: null,
    finished_at: at,
    downloaded_at: null,
    deadline: null,
  };
}

function msOf(instant: string | null): number {
  return instant === null ? 0 : Date.parse(instant);
}
