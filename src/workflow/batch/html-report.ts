/** The report as an HTML page, from the journal and the files of a batch. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { foldItemFacts } from '../../batch/plan/facts.ts';
import { RECORD_FOLDER } from '../../batch/record-folder.ts';
import { readPageParts, writePage } from '../../batch/report/html.ts';
import { buildReport } from '../../batch/report/page-build.ts';
import { pageJobs } from '../../batch/report/page-jobs.ts';
import { cacheSounds } from '../../batch/report/sound-cache.ts';
import { foldStageRecords } from '../../batch/stages/records.ts';
import type { Context } from '../../context/context.ts';
import type { OpenBatch } from './open-batch.ts';

/**
 * The text of the page.
 * @param path of the page, absolute: links to media are relative to it
 * @throws Failure (`configuration`) without ffmpeg; the reason of the signal
 */
export async function htmlReport(batch: OpenBatch, path: string, context: Context): Promise<string> {
  const { io, signal } = context;
  const { folder, facts, records } = batch;
  const [{ createPrograms }, { outlineSound }, { readSoftSubtitles }, { readSubtitleFile }] =
    await Promise.all([
      import('../../engines/programs.ts'),
      import('../../engines/media/peaks.ts'),
      import('../../engines/media/soft-subtitles.ts'),
      import('../../prepare/subtitles/read.ts'),
    ]);
  const programs = createPrograms(io.env.PATH ?? '');
  const scratch = await mkdtemp(join(tmpdir(), 'vloc-report-'));
  const run = { signal, folder: scratch };
  try {
    const report = await buildReport(
      {
        title: basename(folder),
        tool: 'vloc',
        madeAt: new Date(io.now()).toISOString(),
        pageFolder: dirname(path),
        jobs: pageJobs(facts, {
          items: foldItemFacts(records),
          stages: foldStageRecords(records),
          folder,
        }),
      },
      {
        outlineSound: cacheSounds(join(folder, RECORD_FOLDER, 'outlines'), (file) =>
          outlineSound(programs, file, run),
        ),
        readSubtitleFile: async (file) => readSubtitleFile(await readFile(file), file),
        readSoftSubtitles: (file) => readSoftSubtitles(programs, file, run),
      },
    );
    signal.throwIfAborted();
    return writePage(report, await readPageParts());
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
