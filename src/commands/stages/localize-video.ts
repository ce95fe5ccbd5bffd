/** Runs one video through its stages. Each stage waits only for the previous stage of the same video. */

import { hash } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { diskFailure, Failure, usageFailure } from '../../base/failure.ts';
import { makeFolder } from '../../base/folder.ts';
import { publish, rowsIn } from '../../batch/deliver/publish.ts';
import { findVersion } from '../../batch/deliver/result-file.ts';
import type { BatchItem, BatchOutcome, ItemFile } from '../../batch/item.ts';
import { alignTexts, memoryRequestOf } from '../../batch/memory.ts';
import { pathExists } from '../../batch/plan/file-status.ts';
import { isCopied } from '../../batch/plan/input.ts';
import { newestAttempt } from '../../batch/plan/item-key.ts';
import { NO_LANGUAGE } from '../../batch/plan/result-name.ts';
import { findLosses, madeIn, recordChecks } from '../../batch/run/check-translation.ts';
import { cuesMissingFailure } from '../../batch/run/outcome.ts';
import { type BatchMemory, sentencesOfItem } from '../../batch/run/recall.ts';
import { languageOfStage, linesStage, STAGES_FOLDER, videoStage } from '../../batch/stages/items.ts';
import type { WrittenSubtitle } from '../../batch/stages/records.ts';
import { writeSubtitle as formatSubtitle } from '../../media/subtitles/write.ts';
import { baseLanguage, languageName } from '../../protocol/language-tag.ts';
import { type SpokenLine, withoutSpeakers, withSpeakers } from '../../protocol/subtitle-line.ts';
import { createPlanIo } from '../jobs/plan-jobs.ts';
import { nameSpeakers } from '../jobs/subtitles.ts';
import { checkExport, type Exporter, type VideoAudio } from './export-videos.ts';
import { besidePath } from './find-subtitles.ts';
import { digestFile, labelOf, linesInFile, readStageLines } from './given-subtitle.ts';
import type { StageJobs } from './stage-jobs.ts';
import {
  findIncomplete,
  isDubbed,
  needsBackground,
  type SourceVideo,
  type StageSubtitle,
} from './stage-plan.ts';
import {
  applyOutcome,
  endTarget,
  failTarget,
  listUnfinished,
  type StagedRun,
  type TargetState,
} from './staged-run.ts';

/** A run, and what makes its results. */
interface Workshop {
  readonly run: StagedRun;
  readonly jobs: StageJobs;
  readonly exportVideo: Exporter;
}

/**
 * Takes a video through all stages in all its target languages.
 * @param states its targets
 * @throws Failure of the folder or the service; the reason of the signal
 */
export async function localizeVideo(workshop: Workshop, states: readonly TargetState[]): Promise<void> {
  const { run } = workshop;
  const [first] = states;
  if (first !== undefined && isCopied(first.video.item.input)) return copyVideo(workshop, states);
  if (run.plan.choices.stopAfter === null)
    for (const state of listUnfinished(states)) await checkExport(run, state);
  await recognize(workshop, listUnfinished(states));
  await recallTranscript(workshop, listUnfinished(states));
  await settleAll(listUnfinished(states).map((state) => localizeTarget(workshop, state)));
}

/** With --stop-after, there is nothing to review. */
async function copyVideo({ run, exportVideo }: Workshop, states: readonly TargetState[]): Promise<void> {
  const isStopped = run.plan.choices.stopAfter !== null;
  const copy = (state: TargetState) =>
    isStopped ? stopHere(run, state, null) : exportVideo(state, { dub: null, separated: null });
  await settleAll(listUnfinished(states).map(copy));
}

async function localizeTarget(workshop: Workshop, state: TargetState): Promise<void> {
  const { run, exportVideo } = workshop;
  const { stopAfter } = run.plan.choices;
  if (stopAfter === 'recognize') return stopHere(run, state, state.sourceSubtitle);
  await translate(workshop, state);
  if (state.end !== null) return;
  await checkTranslation(run, state);
  if (state.end !== null) return;
  if (stopAfter === 'translate') return stopHere(run, state, state.targetSubtitle);
  // The texts are known now.
  await checkExport(run, state);
  if (state.end !== null) return;
  const audio = await makeAudio(workshop, state);
  // The export is free: a target that has all its files is finished even if the run was stopped.
  if (audio !== null) await exportVideo(state, audio);
}

/** Waits for all, then throws the first error. */
export async function settleAll(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Recognizes the speech if a target needs its subtitles, and writes them beside the video. */
async function recognize({ run, jobs }: Workshop, states: readonly TargetState[]): Promise<void> {
  const { stopAfter } = run.plan.choices;
  const isWanted = ({ targetSubtitle }: TargetState) => targetSubtitle === null || stopAfter === 'recognize';
  const due = states.filter((state) => state.sourceSubtitle === null && isWanted(state));
  const video = due[0]?.video;
  if (video === undefined) return;
  const outcome = await jobs.run(videoStage('subtitle_recognition', video.item), due);
  for (const state of due) applyOutcome(run, state, outcome);
  const source = await readSource(run, video, madeBy(outcome));
  if (source === null) return;
  for (const state of due) state.sourceSubtitle = source;
  await write(run, subtitleFile(video, 'source', source), due);
}

/** Reads what an earlier run recognized, for targets that need no translation but whose terms and tracks need the transcript. */
async function recallTranscript({ run }: Workshop, states: readonly TargetState[]): Promise<void> {
  const due = states.filter((state) => state.sourceSubtitle === null && state.targetSubtitle !== null);
  const video = due[0]?.video;
  if (video === undefined) return;
  const key = videoStage('subtitle_recognition', video.item).key;
  const made = newestAttempt(key, run.journal.attempts)?.files[0]?.path;
  const source = await readSource(run, video, made);
  for (const state of due) state.sourceSubtitle = source;
}

/** Translates the source subtitles unless there is a translation, and writes the result beside the video. */
async function translate({ run, jobs }: Workshop, state: TargetState): Promise<void> {
  const { sourceSubtitle: source, targetSubtitle, target, video } = state;
  if (source === null || targetSubtitle !== null) return;
  const { input, targetLanguage } = target.item;
  if (source.language !== null && baseLanguage(source.language) === baseLanguage(targetLanguage ?? '')) {
    failTarget(run, state, sameLanguageFailure(source.language));
    return;
  }
  const item = linesStage('subtitle_translation', target.item, source, source.language);
  const outcome = await jobs.run(item, [state]);
  applyOutcome(run, state, outcome);
  const path = besidePath(input, targetLanguage, run.plan.choices.format);
  state.targetSubtitle = await readMade(run, madeBy(outcome), { path, language: targetLanguage, source });
  if (state.targetSubtitle === null) return;
  await write(run, subtitleFile(video, 'target', state.targetSubtitle), [state]);
  const { memory } = run;
  if (memory !== undefined) await noteWritten(memory, item, state.targetSubtitle, run);
  const isLost = source.speakers.length > 0 && state.targetSubtitle.speakers.length === 0;
  if (isLost && run.plan.choices.voices !== null)
    failTarget(run, state, speakersLostFailure(state.targetSubtitle));
}

/** Remembers the file beside the video, so that its edited lines are noticed. The result of the job is not what a person edits. */
async function noteWritten(
  { store, origin }: BatchMemory,
  item: BatchItem,
  { path, lines }: StageSubtitle,
  { plan, options }: StagedRun,
): Promise<void> {
  if (item.input.type !== 'lines') return;
  const written = linesInFile(lines, path);
  const texts = alignTexts(item.input.lines, written);
  const cues = item.input.lines.map(({ start_ms }, at) => ({ start_ms, text: texts[at] ?? null }));
  const sentences = await sentencesOfItem({ terms: plan.terms, masksTerms: options.maskTerms }, item);
  await store.noteResult(path, memoryRequestOf(item, origin), sentences, cues);
}

/**
 * Compares the subtitles in the target language, which may be edited, with those in the spoken language. A target fails whose
 * translation came with cues missing, until a person has filled them in.
 */
async function checkTranslation(run: StagedRun, state: TargetState): Promise<void> {
  const { plan, journal, context } = run;
  const { target, targetSubtitle, sourceSubtitle, steps } = state;
  const item = steps.find(({ kind }) => kind === 'subtitle_translation');
  if (targetSubtitle === null || item === undefined) return;
  const { targetLanguage } = target.item;
  const { lines, path, label } = targetSubtitle;
  const source = sourceSubtitle?.lines ?? null;
  const missing = findIncomplete(plan, target, madeIn(journal), { source, lines });
  const isWanted = (plan.terms?.in(targetLanguage ?? '').length ?? 0) > 0;
  if (isWanted && source === null) {
    context.terminal.warn(
      `${target.item.label}: its terms were not checked, because there are no subtitles in the spoken language.`,
    );
  } else if (isWanted && plan.terms !== undefined && source !== null) {
    state.losses = findLosses(plan.terms, targetLanguage, source, {
      ...{ lines, file: path, missing },
      masksTerms: run.options.maskTerms,
    });
  }
  await recordChecks(journal, item.key, {
    missing,
    losses: isWanted && source !== null ? state.losses : null,
  });
  if (missing.length > 0) failTarget(run, state, cuesMissingFailure(missing, label));
}

/**
 * Makes the dub and the separation, which the targets of a video share, concurrently.
 * @returns null if a file is missing
 */
async function makeAudio({ run, jobs }: Workshop, state: TargetState): Promise<VideoAudio | null> {
  const { target, targetSubtitle } = state;
  if (targetSubtitle === null) return null;
  const start = (item: BatchItem) => jobs.run(item, [state]);
  const [dub, separation] = await Promise.all([
    isDubbed(target)
      ? start(linesStage('dubbing', target.item, targetSubtitle)).finally(() => {
          state.isDubDone = true;
        })
      : null,
    needsBackground(target) ? start(videoStage('audio_separation', target.item)) : null,
  ]);
  for (const outcome of [separation, dub]) if (outcome !== null) applyOutcome(run, state, outcome);
  const voice = fileOf(dub, 'audio');
  const background = fileOf(separation, 'background_audio');
  const vocals = fileOf(separation, 'vocal_audio');
  if (dub !== null && voice === null) return null;
  if (separation !== null && (background === null || vocals === null)) return null;
  return { dub: voice, separated: background === null || vocals === null ? null : { background, vocals } };
}

function fileOf(outcome: BatchOutcome | null, asset: string): ItemFile | null {
  const files = outcome?.state.phase === 'done' ? outcome.state.files : [];
  return files.find((file) => file.asset === asset) ?? null;
}

/** Ends a target at --stop-after: its result is the subtitles. */
async function stopHere(run: StagedRun, state: TargetState, subtitle: StageSubtitle | null): Promise<void> {
  const files = subtitle === null ? [] : [await subtitleResult(subtitle)];
  const before = state.isNew ? null : 'downloaded';
  endTarget(run, state, { phase: 'done', jobId: state.jobId, files, credits: null, before });
}

async function subtitleResult({ path }: StageSubtitle): Promise<ItemFile> {
  const bytes = (await stat(path).catch(() => null))?.size ?? null;
  return { asset: 'subtitle', path, bytes, sha256: await digestFile(path) };
}

/** The path of the subtitles that a job has made; undefined if it has made none. */
function madeBy({ state }: BatchOutcome): string | undefined {
  return state.phase === 'done' ? state.files[0]?.path : undefined;
}

async function readSource(
  run: StagedRun,
  video: SourceVideo,
  made: string | undefined,
): Promise<StageSubtitle | null> {
  const asked = video.item.fields.source_language;
  const found = made === undefined ? null : languageOfStage(made);
  const language = found ?? (typeof asked === 'string' && asked !== 'auto' ? asked : null);
  const path = await freePath(run, besidePath(video.item.input, language, run.plan.choices.format), language);
  return readMade(run, made, { path, language, source: null });
}

/** A path without a language gets the tag of an unknown one, if a file of the user has it. */
async function freePath(
  { plan, journal }: StagedRun,
  path: string,
  language: string | null,
): Promise<string> {
  const isOurs = journal.stages.subtitles.has(relative(plan.delivery.folder, path));
  if (language !== null || isOurs || !(await pathExists(path))) return path;
  return path.replace(/\.\w+$/, `.${NO_LANGUAGE}$&`);
}

interface MadeSubtitle {
  /** Path of the subtitle file for the user. */
  readonly path: string;
  readonly language: string | null;
  /** The translated lines; null for recognized speech. */
  readonly source: StageSubtitle | null;
}

/** Reads the result of a job. */
async function readMade(
  { context, plan }: StagedRun,
  made: string | undefined,
  { path, language, source }: MadeSubtitle,
): Promise<StageSubtitle | null> {
  const lines = made === undefined ? null : await readStageLines(made);
  if (lines === null) return null;
  const { io, signal } = context;
  const spoken = source === null ? lines : nameSpeakers(lines, withSpeakers(source.lines, source.speakers));
  const { speakers } = withoutSpeakers(spoken);
  const examined = await createPlanIo(io, {
    kind: 'subtitle_translation',
    // A video in parts may have more lines than the service accepts in one request.
    options: { split: true },
    signal,
    voices: source === null ? null : plan.choices.voices,
  }).examineLines(lines, speakers);
  const { parts = null, voices } = examined.type === 'usable' ? examined : {};
  return { label: labelOf(path, io.cwd), path, language, lines, speakers, parts, voices };
}

function subtitleFile(
  video: SourceVideo,
  role: SubtitleFile['role'],
  { path, lines, speakers, language }: StageSubtitle,
): SubtitleFile {
  return {
    path,
    lines: withSpeakers(lines, speakers),
    role,
    video: video.item.input.name,
    language: language ?? 'und',
  };
}

/** Writes a subtitle file. If that is impossible, its targets fail: the user could not edit it. */
async function write(run: StagedRun, file: SubtitleFile, states: readonly TargetState[]): Promise<void> {
  const failure = await writeSubtitle(run, file);
  if (failure !== null) for (const state of listUnfinished(states)) failTarget(run, state, failure);
}

function sameLanguageFailure(language: string): Failure {
  return usageFailure(
    'LANGUAGE_NOT_SUPPORTED',
    `the speech is already in ${languageName(language)}, which is the target language`,
    'Choose another with --to, or pass the subtitles to be spoken with --subtitle.',
  );
}

function speakersLostFailure({ label }: StageSubtitle): Failure {
  return usageFailure(
    'SPEAKERS_UNKNOWN',
    `${label} has other cues than its source, so nobody knows who speaks them; the dub was not sent`,
    'Add the names to it, then run the same command again with --from-subtitles.',
  );
}

/** A subtitle file to write. */
interface SubtitleFile {
  /** Absolute. */
  readonly path: string;
  readonly lines: readonly SpokenLine[];
  /** Name of the video below its root. */
  readonly video: string;
  readonly role: WrittenSubtitle['role'];
  /** BCP 47 tag; `und` if unknown. */
  readonly language: string;
}

/**
 * Writes a file.
 * @returns why it was not written; null if it was, or did not have to be
 * @throws Failure of the lock or the journal of the folder
 */
async function writeSubtitle(run: StagedRun, file: SubtitleFile): Promise<Failure | null> {
  const { context, plan, journal } = run;
  const { path, video, role, language } = file;
  const { folder } = plan.delivery;
  const bytes = Buffer.from(formatSubtitle(file.lines, plan.choices.format));
  const stored = { path, sha256: hash('sha256', bytes), size: bytes.length };
  const rows = rowsIn(journal, { item: video, step: role }, { made: stored.sha256, language });
  const before = await rows.find(path);
  const isKnown = before.length === 1 && before[0]?.sha256 === stored.sha256;
  if (isKnown && (await findVersion(path, before)) !== null) return null;
  const placing = { rows, overwrite: false, findInput: run.inputs.find };
  const from = join(folder, STAGES_FOLDER, `${hash('sha256', path)}.part`);
  try {
    await makeFolder(join(folder, STAGES_FOLDER), 0o700);
    await writeFile(from, bytes);
    await publish([{ from, file: stored }], placing, () => journal.add(rows.placed([stored])));
    return null;
  } catch (error) {
    if (journal.lost.aborted) throw error;
    if (!(error instanceof Failure)) return unwritableFailure(path, error);
    if (error.facts.code !== 'TARGET_EXISTS') return error;
    if (before.length === 0) return otherFileFailure(path);
    const name = labelOf(path, context.io.cwd);
    context.terminal.warn(
      `${name} was edited meanwhile and was left unchanged; run this again to continue from it.`,
    );
    return null;
  }
}

function otherFileFailure(path: string): Failure {
  return usageFailure(
    'TARGET_EXISTS',
    `${path} already exists, was not written by vloc, and was not changed`,
    'Move it away and run the same command again, which pays nothing twice; or use it with --from-subtitles.',
  );
}

function unwritableFailure(path: string, cause: unknown): Failure {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return diskFailure(
    'DISK_ERROR',
    `${path} cannot be written (${code})`,
    'Free some space, or make the folder of the video writable, then run the same command again.',
    {},
    { cause },
  );
}
