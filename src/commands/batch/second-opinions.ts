/**
 * Paid second opinions on the results of a batch: a recognizer hears each dub, and each translation is translated back. They are
 * jobs of a batch of their own in the records of the folder, so that a repeated command continues and pays nothing twice.
 */
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, extname, join, relative, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { configurationFailure, Failure } from '../../base/failure.ts';
import { makeFolder } from '../../base/folder.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { subtitleLanguage } from '../../batch/inputs/check-subtitle.ts';
import { isStageKey } from '../../batch/inputs/stage-items.ts';
import { CUES_MISSING } from '../../batch/item-provenance.ts';
import { RECORD_FOLDER } from '../../batch/records/record-folder.ts';
import { type ItemReport, isDelivered, readItemKey } from '../../batch/report/item-report.ts';
import { shortDigest } from '../../batch/short-digest.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { decodeOptions } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import { outputTo } from '../context/output/forms.ts';
import { JSON_ONLY, nothing, type Presenter } from '../context/output/presentation.ts';
import { serviceFlagsOf } from '../context/printed-command.ts';
import { jobTable } from '../jobs/job-options.ts';
import { runJobs } from '../jobs/run-jobs.ts';
import { showPlan } from '../jobs/show-plan.ts';
import { filesOf } from './attention.ts';
import { type BatchFolder, type BatchFolders, readBatchFolders } from './batch-folders.ts';

/** The texts that were heard or translated back, by the file with the judged texts. Values are paths of subtitles. */
export interface SecondOpinions {
  readonly heard: ReadonlyMap<string, string>;
  readonly back: ReadonlyMap<string, string>;
}

/** One job. */
interface OpinionRow {
  /** File with the judged texts, absolute. */
  readonly judged: string;
  /** The input, relative to the folder of the batch. */
  readonly file: string;
  readonly from: string;
  readonly to?: string;
}

interface OpinionKind {
  readonly kind: JobKind;
  /** Folder in the records of the batch. */
  readonly name: 'listen' | 'back';
  readonly list: (batch: BatchFolder, context: Context) => Promise<readonly OpinionRow[]>;
}

const LISTEN: OpinionKind = { kind: 'subtitle_recognition', name: 'listen', list: listDubs };
const BACK: OpinionKind = { kind: 'subtitle_translation', name: 'back', list: listTranslations };

interface OpinionTask {
  readonly listen: boolean;
  readonly back: boolean;
}

/** Runs the jobs that are not done. @throws Failure as `runJobs`, except for single jobs that fail: these are warnings */
export async function askForOpinions(
  { batches }: BatchFolders,
  task: OpinionTask,
  context: Context,
): Promise<SecondOpinions> {
  const ask = async (opinion: OpinionKind) => {
    const found = new Map<string, string>();
    for (const batch of batches)
      for (const [judged, path] of await runOpinion(opinion, batch, context)) found.set(judged, path);
    return found;
  };
  const none = new Map<string, string>();
  return { heard: task.listen ? await ask(LISTEN) : none, back: task.back ? await ask(BACK) : none };
}

/** Prints what the jobs would cost; sends nothing. @throws Failure as `showPlan` */
export async function planOpinions(
  { batches }: BatchFolders,
  task: OpinionTask,
  context: Context,
): Promise<void> {
  const plans: unknown[] = [];
  const { present } = context;
  // All plans are one document.
  const show: Presenter['show'] = ({ document, ...plan }) => {
    plans.push(document?.());
    return present.show(plan);
  };
  for (const opinion of [...(task.listen ? [LISTEN] : []), ...(task.back ? [BACK] : [])]) {
    for (const batch of batches) {
      const rows = await opinion.list(batch, context);
      if (rows.length === 0) continue;
      await showPlan(
        opinion.kind,
        { ...contextOf(batch, rows, context), present: { ...present, show } },
        [],
        optionsOf(opinion, rows),
      );
    }
  }
  await present.show({
    ...JSON_ONLY,
    document: () => ({ object: 'attention_plan', plans }),
    events: nothing,
  });
}

async function runOpinion(
  opinion: OpinionKind,
  batch: BatchFolder,
  context: Context,
): Promise<ReadonlyMap<string, string>> {
  const rows = await opinion.list(batch, context);
  if (rows.length === 0) return new Map();
  const then: Context = {
    ...contextOf(batch, rows, context),
    fields: null,
    ...outputTo('plain', () => undefined, context.terminal),
  };
  try {
    await runJobs(opinion.kind, then, [], optionsOf(opinion, rows));
  } catch (error) {
    // What has come of a translation back can be compared.
    const isJudged =
      error instanceof Failure && [error.category, error.code].some((each) => USABLE.includes(each));
    if (!isJudged) throw error;
    context.terminal.warn(`Not all of it could be judged: ${error.message}.`);
  }
  const judgedBy = new Map(rows.map(({ file, judged }) => [file.split(sep).join('/'), judged]));
  const { facts } = await readBatchFolders(context, [folderOf(opinion, batch)]);
  const done = facts.items.filter(isDelivered).flatMap(({ key, files }) => {
    const judged = judgedBy.get(readItemKey(key)?.name ?? '');
    const made = files.find(({ asset }) => asset === 'subtitle')?.path;
    return judged !== undefined && made !== undefined ? [[judged, made] as const] : [];
  });
  return new Map(done);
}

/** A category and a code of failures after which some results are there. */
const USABLE: readonly string[] = ['partial', CUES_MISSING];

function folderOf({ name }: OpinionKind, { folder }: BatchFolder): string {
  return join(folder, RECORD_FOLDER, name);
}

/** The rows are a sheet on stdin, so that each has languages of its own. They ask the service of the batch. */
function contextOf({ folder, facts }: BatchFolder, rows: readonly OpinionRow[], context: Context): Context {
  const sheet = rows.map(({ judged: _, ...row }) => row);
  const isChosen = Object.values(context.service).some((value) => value !== undefined);
  return {
    ...context,
    io: { ...context.io, cwd: folder, stdin: Readable.from([JSON.stringify(sheet)]) },
    service: isChosen ? context.service : serviceFlagsOf(facts.commands.at(-1)?.argv ?? []),
  };
}

function optionsOf({ kind, name }: OpinionKind, rows: readonly OpinionRow[]) {
  const to = rows[0]?.to;
  const raw = {
    sheet: '-',
    out: join(RECORD_FOLDER, name),
    split: true,
    ...(to === undefined ? {} : { to: [to] }),
  };
  return decodeOptions(jobTable(kind), raw);
}

/** The dubs and dubbed videos whose texts are known. */
async function listDubs(batch: BatchFolder, context: Context): Promise<readonly OpinionRow[]> {
  const { folder, records, facts } = batch;
  const rows: OpinionRow[] = [];
  for (const item of facts.items) {
    const { kind, state, target_language: from, files } = item;
    const [file] = files;
    if (state !== 'done' || from === null || file === undefined) continue;
    if (kind === 'auto_localization') {
      const target = records.stages.finished.get(item.key)?.target ?? null;
      if (target !== null)
        rows.push({ judged: resolve(folder, target), file: relative(folder, file.path), from });
    } else if (kind === 'dubbing' && !isStageKey(item.key)) {
      const [, target] = filesOf(item, records, folder);
      const video = target === null ? null : await wrapSound(file, folder, context);
      if (target !== null && video !== null)
        rows.push({ judged: target, file: relative(folder, video), from });
    }
  }
  return rows;
}

/**
 * A video without a picture to see, since services recognize only videos. Made once: another one would be paid again.
 * @returns null with a warning for sound that cannot be read
 */
async function wrapSound(
  { path, sha256 }: ItemReport['files'][number],
  folder: string,
  { io, signal, terminal }: Context,
): Promise<string | null> {
  const own = join(folder, RECORD_FOLDER, LISTEN.name, 'media', shortDigest(sha256));
  const video = join(own, `${basename(path, extname(path))}.mp4`);
  if ((await stat(video).catch(() => null)) !== null) return video;
  const [{ createPrograms }, { fileAddress, QUIET }, { ProgramMissing }] = await Promise.all([
    import('../../media/programs/programs.ts'),
    import('../../media/programs/arguments.ts'),
    import('../../media/programs/failures.ts'),
  ]);
  await makeFolder(own, 0o700);
  const draft = `${video}.${process.pid}.mp4`;
  const picture = ['-f', 'lavfi', '-i', 'color=black:s=64x64:r=5'];
  const codecs = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-b:a', '128k', '-shortest'];
  const args = [...QUIET, ...picture, '-i', fileAddress(path), ...codecs, fileAddress(draft)];
  try {
    await createPrograms(io.env.PATH ?? '').run('ffmpeg', args, { signal, folder: own });
    await rename(draft, video);
    return video;
  } catch (error) {
    signal.throwIfAborted();
    await rm(draft, { force: true });
    if (error instanceof ProgramMissing)
      throw configurationFailure(
        'ENGINE_MISSING',
        `--listen needs ffmpeg for a dub without a video: ${error.message}`,
        'Install it with: vloc engines install',
      );
    const why = error instanceof Error ? error.message : String(error);
    terminal.warn(`${showPath(path, io.cwd)}: not recognized, since its sound cannot be read (${why}).`);
    return null;
  }
}

/** The translations whose source language is known. */
async function listTranslations(batch: BatchFolder, { terminal }: Context): Promise<readonly OpinionRow[]> {
  const { folder, records, facts } = batch;
  const rows: OpinionRow[] = [];
  for (const item of facts.items) {
    const { kind, state, target_language: from, label } = item;
    const [source, target] = filesOf(item, records, folder);
    if (kind !== 'subtitle_translation' || state !== 'done' || from === null) continue;
    if (source === null || target === null) continue;
    const to = sourceLanguageOf(item, source, batch);
    if (to === null) terminal.warn(`${label}: not translated back, since its source language is not known.`);
    else rows.push({ judged: target, file: relative(folder, await keepText(target, folder)), from, to });
  }
  return rows;
}

/** A copy in the records: its name is that of its content, so that an edited text is another job. */
async function keepText(path: string, folder: string): Promise<string> {
  const bytes = await readFile(path);
  const own = join(folder, RECORD_FOLDER, BACK.name, 'texts', shortDigest(bytes));
  const copy = join(own, basename(path));
  if ((await stat(copy).catch(() => null)) !== null) return copy;
  await makeFolder(own, 0o700);
  await replaceFile(copy, bytes);
  return copy;
}

function sourceLanguageOf(
  { key }: ItemReport,
  source: string,
  { folder, records }: BatchFolder,
): string | null {
  const asked = records.facts.get(key)?.fields.source_language;
  if (typeof asked === 'string' && asked !== 'auto') return asked;
  const written = [...records.stages.subtitles.values()].find(
    ({ path, role }) => role === 'source' && resolve(folder, path) === source,
  );
  if (written !== undefined && written.language !== 'und') return written.language;
  return subtitleLanguage(source);
}
