/** The batch whose run is killed at its system calls: one video, localized. */
import type { RunOutcome } from '../../../../src/batch/run/batch.ts';
import { videoItem } from './items.ts';
import { runInFolder } from './run-in-folder.ts';
import { unopenedBatch } from './unopened-batch.ts';

export interface SweptRun {
  readonly baseUrl: string;
  readonly credentials: { readonly key: string; readonly secret: string };
  readonly stateDir: string;
  readonly out: string;
  /** Path of a file. */
  readonly video: string;
  /** Whether a file at the path of the result is replaced. */
  readonly replace: boolean;
  readonly languages: readonly string[];
}

export async function runSwept({
  video,
  replace,
  languages,
  ...opening
}: SweptRun): Promise<readonly RunOutcome[]> {
  const batch = unopenedBatch({ ...opening, items: languages.map((language) => videoItem(video, language)) });
  const { delivery, connection } = batch;
  try {
    return await runInFolder({
      ...batch,
      delivery: { ...delivery, existing: replace ? 'replace' : 'refuse' },
    });
  } finally {
    await connection.client.close();
  }
}
