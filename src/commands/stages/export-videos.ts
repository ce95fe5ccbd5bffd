/** The last stage: exports the finished videos on this machine, and again only if something in them changed. */

import { hash } from 'node:crypto';
import { copyFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import PQueue from 'p-queue';
import { Failure, type FailureCategory } from '../../base/failure.ts';
import { makeFolder } from '../../base/folder.ts';
import { errorCode } from '../../base/system-error.ts';
import { takeTurn } from '../../base/together.ts';
import { type Output, publish, rowsIn } from '../../batch/deliver/publish.ts';
import { findVersion } from '../../batch/deliver/result-file.ts';
import { type FileInput, isCopied, isPrepared } from '../../batch/input.ts';
import { keptResult, markOf } from '../../batch/inputs/items.ts';
import { digestLines } from '../../batch/inputs/stage-items.ts';
import type { BatchItem, ItemFile, ItemState } from '../../batch/item.ts';
import type { ItemCue } from '../../batch/item-provenance.ts';
import { isKept } from '../../batch/kept-tracks.ts';
import { enginesOf, recognizedLanguage, stepsOfStages } from '../../batch/made-steps.ts';
import { createItemFacts } from '../../batch/records/item-facts.ts';
import { makeScratch } from '../../batch/records/record-folder.ts';
import type { FinishedVideo } from '../../batch/records/stage-records.ts';
import { hashInput } from '../../batch/run/known-uploads.ts';
import { addTracks } from '../../media/export/add-tracks.ts';
import { type CutSpeech, checkExport as check, exportLocalized } from '../../media/export/export.ts';
import type { MarkFacts } from '../../media/export/mark.ts';
import { writeSound } from '../../media/export/sound.ts';
import type { ExportOptions } from '../../media/index.ts';
import { createPrograms, type Programs } from '../../media/programs/programs.ts';
import { pairSource } from '../../media/subtitles/bilingual.ts';
import type { EngineUse, Subtitle } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { asSentence } from '../context/format.ts';
import { commandRecord } from '../jobs/drive.ts';
import { createMarking } from '../jobs/mark-program.ts';
import { createPreparation } from '../jobs/preparation.ts';
import { linesInFile } from './given-subtitle.ts';
import type { StageSubtitle } from './stage-plan.ts';
import { endTarget, failUnsent, type StagedRun, type TargetEnd, type TargetState } from './staged-run.ts';

/** The sound of a finished video. */
export interface VideoAudio {
  readonly dub: ItemFile | null;
  readonly separated: { readonly vocals: ItemFile; readonly background: ItemFile } | null;
}

/** Exports the video of a target, unless that was done before. @throws Failure of the journal; the reason of the signal */
export type Exporter = (state: TargetState, audio: VideoAudio) => Promise<void>;

/** Exports one video at a time: each uses all cores. */
export function createExporter(run: StagedRun): Exporter {
  const { context, inputs, journal } = run;
  const turns = new PQueue({ concurrency: 1 });
  return async (state, audio) => {
    const madeOf = digestExport(state, audio);
    const before = await findFinished(run, state, madeOf);
    if (before !== null) {
      const { lost_terms: _, ...known } = before;
      const now = { ...known, ...lossesOf(run, state) };
      // Its jobs are newer than the record of the video, which they did not change.
      if (state.isNew || !isDeepStrictEqual(now, before)) await journal.add({ ...now, at: timestamp(run) });
      return endTarget(run, state, doneState(state, fileOf(run, before), 'downloaded'));
    }
    const { item } = state.target;
    inputs.add([state.sourceSubtitle, state.targetSubtitle].flatMap((subtitle) => subtitle?.path ?? []));
    // Recorded before the export, so that a later command sees an unfinished video if this process is killed.
    await journal.add(commandRecord(run, [item.key]), createItemFacts(item));
    const leave = await takeTurn(turns, context.signal, run.states.indexOf(state));
    try {
      const { file, uses, cut } = await exportOne(run, { state, audio, madeOf });
      const cues = cut === null ? [] : [await recordCut(journal, state, cut)];
      const isNoted = uses.length + cues.length > 0;
      const provenance = isNoted ? { engines: uses, cues } : null;
      endTarget(run, state, { ...doneState(state, file, null), provenance });
    } catch (error) {
      if (context.signal.aborted) throw context.signal.reason;
      await failUnsent(run, state, exportFailure(error));
    } finally {
      leave();
    }
  };
}

/**
 * Checks that this machine has the fonts to export a video and can encode its picture, before more is paid for it. A target that it
 * cannot export fails.
 */
export async function checkExport(run: StagedRun, state: TargetState): Promise<void> {
  const { context, plan } = run;
  const { target, targetSubtitle, sourceSubtitle: spoken } = state;
  const { input, key, targetLanguage, fields, bilingual } = target.item;
  const { subtitleOutput, resolution, look } = exportOptions(target.item);
  const isFinished = plan.stages.finished.has(key) && !run.runOptions.fresh;
  if (isFinished || (subtitleOutput !== 'burned' && resolution === 'source')) return;
  // A video that must be converted first is examined when it has been.
  const video = input.preparation === null ? input.path : null;
  const { source_language: asked = 'auto' } = fields;
  const language = spoken?.language ?? (asked === 'auto' ? 'und' : String(asked));
  const source = bilingual === undefined ? undefined : { language, lines: spoken?.lines ?? null };
  const request = {
    video,
    subtitleOutput,
    resolution,
    look,
    source,
    targetLanguage: targetLanguage ?? 'und',
  };
  const where = { signal: context.signal, folder: tmpdir() };
  try {
    await check(createPrograms(context.io.env.PATH ?? ''), request, targetSubtitle?.lines ?? null, where);
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    const advice = 'Then run the same command again: nothing is paid twice.';
    await failUnsent(run, state, exportFailure(error).with({ advice }));
  }
}

/** Digest of everything whose change requires a re-export; file names are excluded. */
function digestExport(
  { target, sourceSubtitle, targetSubtitle }: TargetState,
  { dub, separated }: VideoAudio,
): string {
  const { input } = target.item;
  const facts: unknown[] = [
    [input.bytes, input.mtimeMs, ...(input.sample === undefined ? [] : [input.sample.seconds])],
    [dub?.sha256, separated?.background.sha256, separated?.vocals.sha256],
    exportOptions(target.item),
    targetSubtitle === null ? null : digestLines(targetSubtitle.lines),
  ];
  const { keep, mark, sound } = target.item;
  if (mark === false) facts.push(['no mark']);
  if (sound !== undefined) facts.push(sound);
  if (keep !== undefined) {
    const isWithSource = isKept('subtitles', keep) && sourceSubtitle !== null;
    facts.push([keep, isWithSource ? digestLines(sourceSubtitle.lines) : null]);
  }
  const { lines, second } = subtitleOf({ target, sourceSubtitle, targetSubtitle });
  const shown = second === undefined ? [] : [second, lines.map(({ source }) => source)];
  return hash('sha256', JSON.stringify([...facts, ...shown]));
}

/** The record of a finished video that still exists and has this digest; null if there is none. */
async function findFinished(
  { plan, runOptions }: StagedRun,
  { target }: TargetState,
  madeOf: string,
): Promise<FinishedVideo | null> {
  const record = plan.stages.finished.get(target.item.key);
  if (record?.made_of !== madeOf || runOptions.fresh) return null;
  if (record.path !== relative(plan.delivery.folder, target.path)) return null;
  const found = await stat(target.path).catch(() => null);
  return found?.size === record.size ? record : null;
}

function timestamp({ context }: StagedRun): string {
  return new Date(context.io.now()).toISOString();
}

function fileOf({ plan }: StagedRun, { path, size, sha256 }: FinishedVideo): ItemFile {
  return { asset: 'video', path: join(plan.delivery.folder, path), bytes: size, sha256 };
}

function doneState(
  { jobId }: TargetState,
  file: ItemFile,
  before: 'downloaded' | null,
): TargetEnd & { phase: 'done' } {
  return { phase: 'done', jobId, files: [file], credits: null, before };
}

/** The export options. In `subtitles_only` mode subtitles become a track by default, as at the service. */
function exportOptions({ fields, look }: BatchItem): ExportOptions {
  const isTextOnly = fields.mode === 'subtitles_only';
  // The plan checked the values against the table of the kinds.
  const asked = (fields.subtitle_output ?? (isTextOnly ? 'soft' : 'none')) as ExportOptions['subtitleOutput'];
  return {
    subtitleOutput: look === undefined ? asked : 'burned',
    look,
    originalAudio: (fields.original_audio ?? 'background') as ExportOptions['originalAudio'], // checked as well
    resolution: (fields.resolution ?? 'source') as ExportOptions['resolution'], // checked as well
  };
}

/** The subtitles of the video, which are more than the lines of its dub. */
function subtitleOf({
  target: { item },
  sourceSubtitle: spoken,
  targetSubtitle,
}: Pick<TargetState, 'target' | 'sourceSubtitle' | 'targetSubtitle'>): Subtitle {
  const { bilingual: place, targetLanguage } = item;
  const language = targetLanguage ?? 'und';
  const lines = targetSubtitle?.lines ?? [];
  if (place === undefined || spoken === null) return { language, lines };
  const second = { place, language: spoken.language ?? 'und' };
  return { language, lines: pairSource(lines, spoken.lines), second };
}

function placeOf(subtitle: StageSubtitle | null, folder: string): string | null {
  return subtitle === null ? null : relative(folder, subtitle.path);
}

/** Digest of the subtitles as their file keeps them, to notice later edits. */
async function digestInFile(subtitle: StageSubtitle | null): Promise<string | null> {
  return subtitle === null ? null : digestLines(linesInFile(subtitle.lines, subtitle.path));
}

/** The terms that a translation lacks which has no job to record them with. */
function lossesOf({ journal, plan }: StagedRun, { losses, steps }: TargetState) {
  const item = steps.find(({ kind }) => kind === 'subtitle_translation');
  if (losses.length === 0 || item === undefined || journal.attempts.byItem.has(item.key)) return {};
  const { folder } = plan.delivery;
  return { lost_terms: losses.map((loss) => ({ ...loss, file: relative(folder, loss.file) })) };
}

interface Task {
  readonly state: TargetState;
  readonly audio: VideoAudio;
  readonly madeOf: string;
}

async function exportOne(
  run: StagedRun,
  task: Task,
): Promise<{
  readonly file: ItemFile;
  readonly uses: readonly EngineUse[];
  readonly cut: CutSpeech | null;
}> {
  const { context, plan, runOptions } = run;
  const { state, audio, madeOf } = task;
  const { item, path } = state.target;
  const versions = run.journal.findOutputs({ item: item.key, step: 'export', path });
  // A run that was killed may have given it its name.
  const named = await findVersion(
    path,
    runOptions.fresh ? [] : versions.filter(({ made }) => made === madeOf),
  );
  if (named !== null)
    return { file: await publishVideo(run, task, { from: null, file: named }), uses: [], cut: null };
  const report = (fraction: number) => {
    const exporting: ItemState = { phase: 'preparing', doing: 'exporting', fraction };
    run.view.listener({ type: 'item', item, state: exporting, atMs: context.io.now() });
  };
  const scratch = await makeScratch(plan.delivery);
  try {
    report(0);
    const programs = createPrograms(context.io.env.PATH ?? '');
    const { path: video, track } = await makeSource(run, item.input, scratch);
    const exported = isCopied(item.input)
      ? { path: await copyInto(scratch, video), uses: [], cut: null }
      : await exportLocalized(
          programs,
          {
            video,
            track,
            dub: audio.dub?.path ?? null,
            background: audio.separated?.background.path ?? null,
            subtitle: subtitleOf(state),
          },
          { ...exportOptions(item), mark: markFactsOf(run, state), isLossless: item.sound !== undefined },
          { signal: context.signal, folder: scratch, report },
        );
    const kept = await keepTracks(run, state, { programs, video: exported.path, folder: scratch });
    const isMarked = item.mark !== false && !isCopied(item.input);
    const work = { signal: context.signal, folder: scratch };
    const made = isMarked ? await (await createMarking(context))(kept, work) : kept;
    const { size } = await stat(made);
    const sha256 = await hashInput(made, context.signal);
    const file = await publishVideo(run, task, { from: made, file: { path, size, sha256 } });
    return { file, uses: exported.uses, cut: exported.cut };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Puts the video in its place, and records what it was made of. */
async function publishVideo(run: StagedRun, { state, madeOf }: Task, video: Output): Promise<ItemFile> {
  const { plan, journal } = run;
  const { folder, existing } = plan.delivery;
  const { key } = state.target.item;
  const rows = rowsIn(journal, { item: key, step: 'export' }, { made: madeOf });
  const { path, size, sha256 } = video.file;
  const finished: FinishedVideo = {
    type: 'stage_export',
    at: timestamp(run),
    item: key,
    path: relative(folder, path),
    size,
    sha256,
    made_of: madeOf,
    source: placeOf(state.sourceSubtitle, folder),
    target: placeOf(state.targetSubtitle, folder),
    target_lines: await digestInFile(state.targetSubtitle),
    ...lossesOf(run, state),
  };
  const placing = { rows, overwrite: existing === 'replace', findInput: run.inputs.find };
  await publish([video], placing, () => journal.add(rows.placed([video.file]), finished));
  return fileOf(run, finished);
}

/** Copies a video into a folder; returns the path of the copy. */
async function copyInto(folder: string, video: string): Promise<string> {
  const path = join(folder, 'copy');
  await copyFile(video, path);
  return path;
}

/** Adds speech that the video lacks to what is known of the dub, and returns it. */
async function recordCut(
  { attempts, provenances, add }: StagedRun['journal'],
  { steps }: TargetState,
  { cues, seconds }: CutSpeech,
): Promise<ItemCue> {
  const dub = steps.find(({ kind }) => kind === 'dubbing');
  const key = attempts.byItem.get(dub?.key ?? '')?.at(-1);
  const made = (key === undefined ? undefined : provenances.get(key)) ?? { engines: [], cues: [] };
  const isSame = (fit: ItemCue) => fit.cues.some((cue) => cues.includes(cue));
  const natural = { speed: 1, tempo: 1, cut_seconds: 0 };
  const { speed, tempo, cut_seconds: before } = made.cues.find(isSame) ?? natural;
  const cut = { cues, fit: 'cut', speed, tempo, cut_seconds: Math.max(before, seconds) } as const;
  const provenance = { ...made, cues: [...made.cues.filter((fit) => !isSame(fit)), cut] };
  if (key !== undefined) await add({ type: 'made', key, provenance });
  return cut;
}

/** The video that the export uses: the file, or the sample that the stages worked on, made again in the scratch folder. */
async function makeSource(
  { context }: StagedRun,
  input: FileInput,
  scratch: string,
): Promise<{ readonly path: string; readonly track: number | null }> {
  if (input.sample === undefined || !isPrepared(input)) {
    return { path: input.path, track: input.preparation?.track ?? null };
  }
  const folder = join(scratch, 'sample');
  await makeFolder(folder, 0o700);
  const work = { signal: context.signal, folder, report: () => undefined };
  const made = await createPreparation(context.io).prepare(input, null, work);
  return { path: made.files[0]?.path ?? input.path, track: null };
}

/** What the tag of a video says, unless --no-mark leaves it out. */
function markFactsOf(
  { journal, plan, context }: StagedRun,
  { target: { item }, sourceSubtitle, targetSubtitle }: TargetState,
): MarkFacts | undefined {
  const { isWanted, from, ...facts } = markOf(item);
  if (isWanted === false) return undefined;
  const { folder } = plan.delivery;
  const files = { source: placeOf(sourceSubtitle, folder), target: placeOf(targetSubtitle, folder) };
  const engines = enginesOf(stepsOfStages(journal, item, files, (path) => resolve(folder, path)));
  const spoken = from ?? sourceSubtitle?.language ?? recognizedLanguage(journal, item);
  return { ...facts, from: spoken, engines, atMs: context.io.now() };
}

/** Adds the tracks of the original that the target keeps, with the subtitles in the spoken language. */
async function keepTracks(
  run: StagedRun,
  state: TargetState,
  { programs, video, folder }: { programs: Programs; video: string; folder: string },
): Promise<string> {
  const { context } = run;
  const { target, sourceSubtitle } = state;
  const { tracks, source, sound } = keptResult(target.item) ?? {};
  const work = { signal: context.signal, folder };
  const warn = (notes: readonly string[]) => {
    for (const note of notes) context.terminal.warn(`${target.item.label}: ${note}`);
  };
  if (sound !== undefined) {
    const made = await writeSound(
      programs,
      { ...sound, video, source: source ?? null, mark: markFactsOf(run, state) ?? null },
      work,
    );
    warn(made.notes);
    return made.path;
  }
  if (tracks === undefined || source === undefined) return video;
  const { path, track, language } = source;
  const subtitles = isKept('subtitles', tracks);
  const spoken = sourceSubtitle?.language ?? language;
  const task = {
    ...{ video, source: path, language: spoken, subtitles },
    track: isKept('audio', tracks) ? track : null,
    lines: subtitles && sourceSubtitle !== null ? { ...sourceSubtitle, language: spoken } : null,
  };
  const added = await addTracks(programs, task, work);
  warn(added.notes);
  return added.path;
}

/** Codes of `PreparationFailure` that the file does not cause. */
const CATEGORIES: Readonly<Record<string, FailureCategory>> = {
  PROGRAM_MISSING: 'configuration',
  DISK_FULL: 'disk',
};

interface MediaError {
  readonly code: string;
  readonly message: string;
  readonly advice?: unknown;
}

/** The failure of an export. @throws the error itself if it is unexpected */
function exportFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (!isMediaError(error)) throw error;
  const { code, message, advice } = error;
  const isPermanent = error instanceof JobFailure && !error.retryable;
  return new Failure(
    {
      category: CATEGORIES[code] ?? 'job',
      code,
      message,
      advice:
        typeof advice === 'string'
          ? asSentence(advice)
          : `Everything paid for is kept${isPermanent ? ', and used again once the video or the options are changed' : ': run the same command again'}.`,
    },
    { cause: error },
  );
}

/** Compares names, since the classes belong to media work, which is loaded lazily. */
function isMediaError(error: unknown): error is Error & MediaError {
  const names = ['PreparationFailure', 'JobFailure'];
  return error instanceof Error && names.includes(error.name) && errorCode(error) !== '';
}
