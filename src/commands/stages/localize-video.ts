/** Runs one video through its stages, by the recipe of each language. */

import { hash } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diskFailure, Failure, usageFailure } from '../../base/failure.ts';
import { makeFolder } from '../../base/folder.ts';
import { publish, rowsIn } from '../../batch/deliver/publish.ts';
import { findVersion } from '../../batch/deliver/result-file.ts';
import { STAGES_FOLDER, videoStage } from '../../batch/inputs/stage-items.ts';
import type { BatchItem, BatchOutcome, ItemFile } from '../../batch/item.ts';
import { firstLook } from '../../batch/recipes/stages.ts';
import type { WrittenSubtitle } from '../../batch/records/stage-records.ts';
import { alignTexts, memoryRequestOf } from '../../batch/records/translation-memory.ts';
import { findLosses, madeIn, recordChecks } from '../../batch/run/check-translation.ts';
import { cuesMissingFailure } from '../../batch/run/outcome.ts';
import { type BatchMemory, sentencesOfItem } from '../../batch/run/recall.ts';
import { writeSubtitle as formatSubtitle } from '../../media/subtitles/write.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { type SpokenLine, withSpeakers } from '../../protocol/subtitle-line.ts';
import { checkExport, type Exporter, type VideoAudio } from './export-videos.ts';
import { digestFile, labelOf, linesInFile } from './given-subtitle.ts';
import type { SourceVideo, StageSubtitle } from './stage-plan.ts';
import {
  endTarget,
  failUnsent,
  listUnfinished,
  type StagedRun,
  type StageJobs,
  type TargetState,
} from './staged-run.ts';
import { findIncomplete, recallTranscript, type StageHands, walkStages } from './walk-stages.ts';

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
  for (const state of listUnfinished(states)) {
    const { does, needs } = firstLook(state.recipe);
    // A video that is copied needs nothing.
    if (does === 'export' && needs.length > 0) await checkExport(run, state);
  }
  let writing: Promise<Failure | null> | null = null;
  const writeSource = (file: SubtitleFile) => {
    writing ??= writeSubtitle(run, file);
    return writing;
  };
  const walk = (state: TargetState) => walkStages(run, state, createHands(workshop, state, writeSource));
  await settleAll(listUnfinished(states).map(walk));
}

/** What the run does for a target. @param writeSource writes the transcript, once for all languages */
function createHands(
  { run, jobs, exportVideo }: Workshop,
  state: TargetState,
  writeSource: (file: SubtitleFile) => Promise<Failure | null>,
): StageHands {
  const { video } = state;
  const outcomes = new Map<JobKind, BatchOutcome>();
  const end = (failure: Failure | null) => {
    if (failure !== null && state.end === null) endTarget(run, state, failure);
  };
  return {
    isOver: () => state.end !== null,
    end,
    async run({ part: item }) {
      const outcome = await jobs.run(item);
      const made = outcome.state;
      outcomes.set(item.kind, outcome);
      if (item.kind === 'dubbing') state.isDubDone = true;
      // Of a dub and a separation, people see the dub.
      if (item.kind !== 'audio_separation') state.jobId = made.jobId ?? state.jobId;
      if (made.phase === 'done' && made.before === null) state.isNew = true;
      if (made.phase === 'done') return made.files[0]?.path ?? null;
      if (state.end === null) endTarget(run, state, made);
      return undefined;
    },
    work: {
      async recall() {
        const item = videoStage('subtitle_recognition', video.item);
        // Others of the video may need it now.
        if (listUnfinished(run.needs.get(item.key) ?? []).length > 0) await jobs.run(item);
        await recallTranscript(run, state, run.journal.attempts);
      },
      async transcript() {
        const { sourceSubtitle: source } = state;
        if (source !== null) end(await writeSource(subtitleFile(video, 'source', source)));
      },
      async translation() {
        const { sourceSubtitle: source, targetSubtitle: written } = state;
        const item = outcomes.get('subtitle_translation')?.item;
        if (source === null || written === null || item === undefined) return;
        end(await writeSubtitle(run, subtitleFile(video, 'target', written)));
        const memory = run.served()?.memory;
        if (memory !== undefined) await noteWritten(memory, item, written, run);
        const isLost = source.speakers.length > 0 && written.speakers.length === 0;
        if (isLost && run.plan.choices.voices !== null) end(speakersLostFailure(written));
      },
      check: () => checkTranslation(run, state),
      async fit() {
        if (state.sourceSubtitle === null && state.target.item.bilingual !== undefined)
          return failUnsent(run, state, transcriptGoneFailure());
        return checkExport(run, state);
      },
      stop: () => stopHere(run, state),
      // It is free: a target that has all its files is finished even if the run was stopped.
      export: () => exportVideo(state, audioOf(outcomes.values())),
    },
  };
}

/** Waits for all, then throws the first error. */
export async function settleAll(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Remembers the file beside the video, so that its edited lines are noticed. The result of the job is not what a person edits. */
async function noteWritten(
  { store, origin }: BatchMemory,
  item: BatchItem,
  { path, lines }: StageSubtitle,
  { terms, options }: StagedRun,
): Promise<void> {
  if (item.input.type !== 'lines') return;
  const written = linesInFile(lines, path);
  const texts = alignTexts(item.input.lines, written);
  const cues = item.input.lines.map(({ start_ms }, at) => ({ start_ms, text: texts[at] ?? null }));
  const sentences = await sentencesOfItem({ terms, masksTerms: options.maskTerms }, item);
  await store.noteResult(path, memoryRequestOf(item, origin), sentences, cues);
}

/**
 * Compares the subtitles in the target language, which may be edited, with those in the spoken language. A target fails whose
 * translation came with cues missing, until a person has filled them in.
 */
async function checkTranslation(run: StagedRun, state: TargetState): Promise<void> {
  const { plan, terms, journal, context } = run;
  const { target, targetSubtitle, sourceSubtitle, steps } = state;
  const item = steps.find(({ kind }) => kind === 'subtitle_translation');
  if (targetSubtitle === null || item === undefined) return;
  const { targetLanguage } = target.item;
  const { lines, path, label } = targetSubtitle;
  const source = sourceSubtitle?.lines ?? null;
  const missing = findIncomplete(plan, state, madeIn(journal));
  const isWanted = (terms?.in(targetLanguage ?? '').length ?? 0) > 0;
  if (isWanted && source === null) {
    context.terminal.warn(
      `${target.item.label}: its terms were not checked, because there are no subtitles in the spoken language.`,
    );
  } else if (isWanted && terms !== undefined && source !== null) {
    state.losses = findLosses(terms, targetLanguage, source, {
      ...{ lines, file: path, missing },
      masksTerms: run.options.maskTerms,
    });
  }
  await recordChecks(journal, item.key, {
    missing,
    losses: isWanted && source !== null ? state.losses : null,
  });
  if (missing.length > 0) endTarget(run, state, cuesMissingFailure(missing, label));
}

/** What the jobs have made of the sound. */
function audioOf(outcomes: Iterable<BatchOutcome>): VideoAudio {
  const files = [...outcomes].flatMap(({ state }) => (state.phase === 'done' ? state.files : []));
  const find = (asset: string) => files.find((file) => file.asset === asset) ?? null;
  const [background, vocals] = [find('background_audio'), find('vocal_audio')];
  return { dub: find('audio'), separated: background && vocals && { background, vocals } };
}

/** Ends a target at --stop-after: its result is the subtitles. A video that is only copied has none. */
async function stopHere(run: StagedRun, state: TargetState): Promise<void> {
  const { kind } = firstLook(state.recipe).goal;
  const { sourceSubtitle, targetSubtitle } = state;
  const isVideo = kind === 'auto_localization';
  const subtitle = isVideo ? null : kind === 'subtitle_recognition' ? sourceSubtitle : targetSubtitle;
  const files = subtitle === null ? [] : [await subtitleResult(subtitle)];
  const before = state.isNew ? null : 'downloaded';
  endTarget(run, state, { phase: 'done', jobId: state.jobId, files, credits: null, before });
}

async function subtitleResult({ path }: StageSubtitle): Promise<ItemFile> {
  const bytes = (await stat(path).catch(() => null))?.size ?? null;
  return { asset: 'subtitle', path, bytes, sha256: await digestFile(path) };
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

function transcriptGoneFailure(): Failure {
  return usageFailure(
    'NO_SUBTITLES',
    'the subtitles in the spoken language are gone, which --bilingual shows',
    'Name them with --source-subtitle, or leave --bilingual out; nothing is paid twice.',
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
  const placing = { rows, overwrite: false, findInput: run.inputs.find };
  const from = join(folder, STAGES_FOLDER, `${hash('sha256', path)}.part`);
  try {
    if (isKnown && (await findVersion(path, before)) !== null) {
      await publish([{ from: null, file: stored }], placing, async () => {});
      return null;
    }
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
