/** The HTML page of a batch, and the files of the batch that nothing may replace. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { usageFailure } from '../../base/failure.ts';
import { createInputs } from '../../base/find-input.ts';
import { namedPaths } from '../../batch/inputs/candidate.ts';
import { RECORD_FOLDER, recordsPath } from '../../batch/records/record-folder.ts';
import { readPageParts, writePage } from '../../batch/report/html.ts';
import type { ItemReport } from '../../batch/report/item-report.ts';
import { buildReport } from '../../batch/report/page-build.ts';
import { type PageJob, type PageSource, pageJobs } from '../../batch/report/page-jobs.ts';
import { describeMissing } from '../../batch/report/shard-facts.ts';
import type { Context } from '../context/context.ts';
import { cacheSounds } from '../subtitles/sound-cache.ts';
import { readAttention } from './attention.ts';
import type { BatchFolder, BatchFolders } from './batch-folders.ts';

export async function listNotices(
  items: readonly ItemReport[],
  context: Context,
): Promise<readonly string[]> {
  const { listAttributions } = await import('../models/attributions.ts');
  return listAttributions(items, context);
}

/** @throws Failure (`usage`) when the path leads to an input, a result or the journal of the batch */
export async function refuseBatchFile(
  path: string,
  { batches }: BatchFolders,
  advice: string,
): Promise<void> {
  for (const batch of batches) {
    for (const { code, name, paths } of listBatchFiles(batch)) {
      if ((await createInputs(paths).find(path)) === null) continue;
      const message = `${path} is ${name} of this batch, so it was not changed`;
      throw usageFailure(code, message, advice);
    }
  }
}

function listBatchFiles({ folder, journals, facts, records }: BatchFolder) {
  const { subtitles, finished } = records.stages;
  const inputs = [...records.facts.values()].flatMap((item) => item.path ?? []);
  const named = facts.commands.flatMap(({ cwd, operands, options }) => namedPaths(cwd, operands, options));
  const staged = [...subtitles.keys(), ...[...finished.values()].map(({ path }) => path)];
  const results = facts.items.flatMap(({ files }) => files.map((file) => file.path));
  return [
    { code: 'TARGET_IS_INPUT', name: 'an input', paths: [...inputs, ...named] },
    {
      code: 'TARGET_EXISTS',
      name: 'a result',
      paths: [...results, ...staged.map((each) => resolve(folder, each))],
    },
    { code: 'TARGET_EXISTS', name: 'the journal', paths: journals.map(({ place }) => recordsPath(place)) },
  ];
}

interface PageTask extends Pick<PageSource, 'pathOf' | 'commands'> {
  /** A job as the page shows it. */
  readonly show?: (job: PageJob) => PageJob;
}

/**
 * The text of the page.
 * @throws Failure (`configuration`) without ffmpeg; the reason of the signal
 */
export async function writeBatchPage(
  opened: BatchFolders,
  { show = (job) => job, ...task }: PageTask,
  context: Context,
): Promise<string> {
  const { batches, facts } = opened;
  const { io, signal } = context;
  const missing = describeMissing(facts);
  const names = batches.map(({ folder }) => basename(folder)).join(', ');
  const [cache = ''] = batches.map(({ folder }) => join(folder, RECORD_FOLDER, 'outlines'));
  const [{ createPrograms }, { outlineSound }, { readSoftSubtitles, readSubtitleFile }] = await Promise.all([
    import('../../media/programs/programs.ts'),
    import('../../media/audio/peaks.ts'),
    import('../../media/subtitles/read-subtitle.ts'),
  ]);
  const programs = createPrograms(io.env.PATH ?? '');
  const scratch = await mkdtemp(join(tmpdir(), 'vloc-report-'));
  const run = { signal, folder: scratch };
  try {
    const report = await buildReport(
      {
        title: missing === null ? names : `${names}. ${missing}`,
        madeAt: new Date(io.now()).toISOString(),
        attributions: await listNotices(facts.items, context),
        ...task,
        jobs: batches
          .flatMap(({ facts: own, records, folder }) =>
            pageJobs(own, { items: records.facts, stages: records.stages, folder }),
          )
          .map(show),
        attention: await readAttention(opened, context),
      },
      {
        outlineSound: cacheSounds(cache, (file) => outlineSound(programs, file, run)),
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
