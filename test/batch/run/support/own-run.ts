/** A run of a batch that can be given to a process of its own, where it may end itself. */
import { join } from 'node:path';
import type { RunOutcome } from '../../../../src/batch/run/batch.ts';
import type { ClientEvent } from '../../../../src/client/index.ts';
import { linesItem, videoItem } from './items.ts';
import type { OwnPoint } from './kill-points.ts';
import { runInFolder } from './run-in-folder.ts';
import { type Opening, unopenedBatch } from './unopened-batch.ts';

export interface OwnRun extends Pick<Opening, 'baseUrl' | 'credentials' | 'stateDir' | 'out'> {
  /** Path of a file, localized into these languages. */
  readonly video?: string;
  readonly languages?: readonly string[];
  /** So many translations. */
  readonly lines?: number;
  /** Whether a file at the path of a result is replaced. */
  readonly replace?: boolean;
  /** Where it ends itself, as a power cut would. */
  readonly point?: OwnPoint;
}

/** Runs it in a process of its own. Argument: JSON of `OwnRun`. */
export const OWN_RUN = join(import.meta.dirname, 'own-run-process.ts');

const die = () => process.kill(process.pid, 'SIGKILL');

export async function runOwn({
  video = '',
  languages = [],
  lines = 0,
  replace = false,
  point,
  ...opening
}: OwnRun): Promise<readonly RunOutcome[]> {
  const items = [
    ...languages.map((language) => videoItem(video, language)),
    ...Array.from({ length: lines }, (_, index) => linesItem(index)),
  ];
  const batch = unopenedBatch({ ...opening, items, onEvent: dieAt(point) });
  const { delivery, connection, records } = batch;
  try {
    return await runInFolder({
      ...batch,
      delivery: { ...delivery, existing: replace ? 'replace' : 'refuse' },
      records: { jobs: dieBehind(records.jobs, point), uploads: dieBehind(records.uploads, point) },
    });
  } finally {
    await connection.client.close();
  }
}

function dieAt(point: OwnPoint | undefined): (event: ClientEvent) => void {
  return (event) => {
    if (point === undefined || point.at === 'record') return;
    if (event.type !== point.at || event.method !== point.method) return;
    if (new RegExp(point.path).test(new URL(event.url).pathname)) die();
  };
}

/** Dies after the write of a record of the profile, which follows the write to the journal of the folder. */
function dieBehind<Record extends object>(record: Record, point: OwnPoint | undefined): Record {
  if (point?.at !== 'record') return record;
  return new Proxy(record, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (name !== point.call || typeof member !== 'function') return member;
      return async (...values: readonly unknown[]) => {
        await Reflect.apply(member, target, values);
        die();
      };
    },
  });
}
