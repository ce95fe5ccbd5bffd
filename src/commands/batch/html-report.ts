/**
 * The report as an HTML page, from the journal and the files of a batch. Outlines of sounds are cached beside it, since
 * decoding hundreds of videos takes minutes.
 */

import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../../base/folder.ts';
import { foldItemFacts } from '../../batch/plan/facts.ts';
import { RECORD_FOLDER } from '../../batch/record-folder.ts';
import { readPageParts, writePage } from '../../batch/report/html.ts';
import { buildReport } from '../../batch/report/page-build.ts';
import { pageJobs } from '../../batch/report/page-jobs.ts';
import type { Sound } from '../../batch/report/page-source.ts';
import { describeMissing } from '../../batch/report/shard-facts.ts';
import { foldStageRecords } from '../../batch/stages/records.ts';
import type { Context } from '../context/context.ts';
import type { OpenBatches } from './open-batch.ts';

/**
 * The text of the page.
 * @param path of the page, absolute: links to media are relative to it
 * @throws Failure (`configuration`) without ffmpeg; the reason of the signal
 */
export async function htmlReport(
  { batches, facts }: OpenBatches,
  path: string,
  context: Context,
): Promise<string> {
  const { io, signal } = context;
  const missing = describeMissing(facts);
  const names = batches.map(({ folder }) => basename(folder)).join(', ');
  const [cache = dirname(path)] = batches.map(({ folder }) => join(folder, RECORD_FOLDER, 'outlines'));
  const [{ createPrograms }, { outlineSound }, { readSoftSubtitles }, { readSubtitleFile }] =
    await Promise.all([
      import('../../media/programs/programs.ts'),
      import('../../media/audio/peaks.ts'),
      import('../../media/subtitles/read.ts'),
      import('../../media/subtitles/read.ts'),
    ]);
  const programs = createPrograms(io.env.PATH ?? '');
  const scratch = await mkdtemp(join(tmpdir(), 'vloc-report-'));
  const run = { signal, folder: scratch };
  try {
    const report = await buildReport(
      {
        title: missing === null ? names : `${names}. ${missing}`,
        tool: 'vloc',
        madeAt: new Date(io.now()).toISOString(),
        pageFolder: dirname(path),
        jobs: batches.flatMap(({ facts: own, records, folder }) =>
          pageJobs(own, { items: foldItemFacts(records), stages: foldStageRecords(records), folder }),
        ),
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

/** Increased when the format of outlines changes. */
const VERSION = 1;

/**
 * Caches the results of `outline` by path, size and modification time of the file.
 * @param folder created if missing; it may be deleted at any time
 * @throws what `outline` throws; a cache that cannot be read or written is ignored
 */
export function cacheSounds(
  folder: string,
  outline: (path: string) => Promise<Sound>,
): (path: string) => Promise<Sound> {
  return async (path) => {
    const { size, mtimeNs } = await stat(path, { bigint: true });
    const name = createHash('sha256').update(JSON.stringify([VERSION, path, `${size}`, `${mtimeNs}`]));
    const file = join(folder, `${name.digest('hex')}.json`);
    const known = await readSound(file);
    if (known !== null) return known;
    const sound = await outline(path);
    await keep(folder, file, sound).catch(() => {});
    return sound;
  };
}

async function readSound(file: string): Promise<Sound | null> {
  try {
    const { durationMs, stepMs, peaks, decibels } = JSON.parse(await readFile(file, 'utf8'));
    const levels = Int8Array.from(Buffer.from(decibels, 'base64'));
    return { durationMs, peaks: Buffer.from(peaks, 'base64'), loudness: { stepMs, decibels: levels } };
  } catch {
    return null;
  }
}

async function keep(folder: string, file: string, { durationMs, peaks, loudness }: Sound): Promise<void> {
  await makeFolder(folder, 0o700);
  const text = JSON.stringify({
    durationMs,
    stepMs: loudness.stepMs,
    peaks: Buffer.from(peaks).toString('base64'),
    decibels: Buffer.from(
      loudness.decibels.buffer,
      loudness.decibels.byteOffset,
      loudness.decibels.length,
    ).toString('base64'),
  });
  // Renaming is atomic, so readers never see an incomplete file.
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}
