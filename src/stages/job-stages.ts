/** The stages that are jobs of the service: recognition, translation, dub and separation. */
import type { BatchItem, ItemFile } from '../batch/item.ts';
import type { RunOutcome } from '../batch/run/batch.ts';
import { languageOfStage, linesStage, videoStage } from '../batch/stages/items.ts';
import { Failure } from '../errors/failure.ts';
import { baseLanguage, languageName } from '../protocol/language-tag.ts';
import { createPlanIo } from '../workflow/jobs/plan-jobs.ts';
import type { VideoAudio } from './export-videos.ts';
import { besidePath } from './find-subtitles.ts';
import { labelOf, readStageLines } from './given-subtitle.ts';
import { runStage } from './run-stage.ts';
import { isDubbed, needsBackground, type SourceVideo, type StageSubtitle } from './stage-plan.ts';
import { applyOutcome, failTarget, type StagedRun, type TargetState, unfinished } from './staged-run.ts';
import { type SubtitleFile, writeSubtitles } from './write-subtitles.ts';

/** Recognizes the speech of each video whose source subtitles are needed, and writes them beside it. */
export async function recognizeAll(run: StagedRun): Promise<void> {
  const { choices } = run.plan;
  const isWanted = ({ targetSubtitle }: TargetState) =>
    targetSubtitle === null || choices.stopAfter === 'recognize';
  const due = unfinished(run).filter((state) => state.sourceSubtitle === null && isWanted(state));
  const byVideo = Map.groupBy(due, ({ video }) => video);
  const itemOf = new Map(
    [...byVideo.keys()].map((video) => [video, videoStage('subtitle_recognition', video.item)]),
  );
  const outcomes = await runStage(run, describe('Recognizing', 'video', itemOf.size), [...itemOf.values()]);
  const files: SubtitleFile[] = [];
  for (const [video, states] of byVideo) {
    const item = itemOf.get(video);
    for (const state of states) applyOutcome(state, item, outcomes);
    const recognized = states.filter(({ end }) => end === null);
    const source = recognized.length === 0 ? null : await readSource(run, video, outcomeOf(item, outcomes));
    if (source === null) continue;
    for (const state of recognized) state.sourceSubtitle = source;
    files.push(subtitleFile(video, 'source', source));
  }
  await writeAll(run, files, ({ sourceSubtitle }) => sourceSubtitle);
}

/** Translates the source subtitles of each target without a translation, and writes the results beside the video. */
export async function translateAll(run: StagedRun): Promise<void> {
  const due = unfinished(run).filter(({ targetSubtitle }) => targetSubtitle === null);
  const items = new Map<TargetState, BatchItem>();
  for (const state of due) {
    const { sourceSubtitle: source, target } = state;
    if (source === null) continue;
    const language = target.item.targetLanguage ?? '';
    if (source.language !== null && baseLanguage(source.language) === baseLanguage(language))
      failTarget(state, sameLanguage(source.language));
    else items.set(state, linesStage('subtitle_translation', target.item, source, source.language));
  }
  const outcomes = await runStage(run, describe('Translating', 'subtitle', items.size), [...items.values()]);
  const files: SubtitleFile[] = [];
  for (const [state, item] of items) {
    applyOutcome(state, item, outcomes);
    if (state.end !== null) continue;
    const { input, targetLanguage } = state.target.item;
    const path = besidePath(input, targetLanguage, run.plan.choices.format);
    state.targetSubtitle = await readMade(run, outcomeOf(item, outcomes), path, targetLanguage);
    if (state.targetSubtitle !== null) files.push(subtitleFile(state.video, 'target', state.targetSubtitle));
  }
  await writeAll(run, files, ({ targetSubtitle }) => targetSubtitle);
}

function describe(doing: string, what: string, count: number): string {
  return `${doing} ${count} ${what}${count === 1 ? '' : 's'}`;
}

function outcomeOf(
  item: BatchItem | undefined,
  outcomes: ReadonlyMap<string, RunOutcome>,
): RunOutcome | null {
  return outcomes.get(item?.key ?? '') ?? null;
}

async function readSource(
  run: StagedRun,
  video: SourceVideo,
  outcome: RunOutcome | null,
): Promise<StageSubtitle | null> {
  const path = outcome?.state.phase === 'done' ? outcome.state.files[0]?.path : undefined;
  const asked = video.item.fields.source_language;
  const found = path === undefined ? null : languageOfStage(path);
  const language = found ?? (typeof asked === 'string' && asked !== 'auto' ? asked : null);
  return readMade(run, outcome, besidePath(video.item.input, language, run.plan.choices.format), language);
}

/** Reads the result of a job. @param path of the subtitle file for the user */
async function readMade(
  { context }: StagedRun,
  outcome: RunOutcome | null,
  path: string,
  language: string | null,
): Promise<StageSubtitle | null> {
  const file = outcome?.state.phase === 'done' ? outcome.state.files[0] : undefined;
  const lines = file === undefined ? null : await readStageLines(file.path);
  if (lines === null) return null;
  const { io, signal } = context;
  const examined = await createPlanIo(io, {
    kind: 'subtitle_translation',
    // A video in parts may have more lines than the service accepts in one request.
    options: { split: true },
    signal,
  }).examineLines(lines);
  const parts = examined.type === 'usable' ? examined.parts : null;
  return { label: labelOf(path, io.cwd), path, language, lines, parts };
}

function subtitleFile(
  video: SourceVideo,
  role: SubtitleFile['role'],
  { path, lines, language }: StageSubtitle,
): SubtitleFile {
  return { path, lines, role, video: video.item.input.name, language: language ?? 'und' };
}

/** Writes all files. A target whose file cannot be written fails: the user could not edit it. */
async function writeAll(
  run: StagedRun,
  files: readonly SubtitleFile[],
  subtitleOf: (state: TargetState) => StageSubtitle | null,
): Promise<void> {
  const failures = await writeSubtitles(run, files);
  for (const state of unfinished(run)) {
    const failure = failures.get(subtitleOf(state)?.path ?? '');
    if (failure !== undefined) failTarget(state, failure);
  }
}

function sameLanguage(language: string): Failure {
  return new Failure({
    category: 'usage',
    code: 'LANGUAGE_NOT_SUPPORTED',
    message: `the speech is already in ${languageName(language)}, which is the target language`,
    advice: 'Choose another with --to, or pass the subtitles to be spoken with --subtitle.',
  });
}

/**
 * Makes dubs and separations concurrently.
 * @returns the sound of each finished video; null if a file of it is missing
 */
export async function makeAudio(run: StagedRun): Promise<(state: TargetState) => VideoAudio | null> {
  const dubs = new Map<TargetState, BatchItem>();
  const separations = new Map<TargetState, BatchItem>();
  for (const state of unfinished(run)) {
    const { target, targetSubtitle } = state;
    if (targetSubtitle === null) continue;
    if (isDubbed(target)) dubs.set(state, linesStage('dubbing', target.item, targetSubtitle));
    if (needsBackground(target)) separations.set(state, videoStage('audio_separation', target.item));
  }
  // The targets of a video share its separation.
  const shared = new Map([...separations.values()].map((item) => [item.key, item]));
  const count = `${dubs.size} ${dubs.size === 1 ? 'dub' : 'dubs'}`;
  const outcomes = await runStage(run, `Making ${count}`, [...dubs.values(), ...shared.values()]);
  for (const state of unfinished(run)) {
    applyOutcome(state, separations.get(state), outcomes);
    applyOutcome(state, dubs.get(state), outcomes);
  }
  return (state) => {
    if (state.targetSubtitle === null) return null;
    const dub = fileOf(dubs.get(state), outcomes, 'audio');
    const background = fileOf(separations.get(state), outcomes, 'background_audio');
    const vocals = fileOf(separations.get(state), outcomes, 'vocal_audio');
    if (dubs.has(state) && dub === null) return null;
    if (separations.has(state) && (background === null || vocals === null)) return null;
    return { dub, separated: background === null || vocals === null ? null : { background, vocals } };
  };
}

function fileOf(
  item: BatchItem | undefined,
  outcomes: ReadonlyMap<string, RunOutcome>,
  asset: string,
): ItemFile | null {
  const state = outcomes.get(item?.key ?? '')?.state;
  return (state?.phase === 'done' ? state.files.find((file) => file.asset === asset) : undefined) ?? null;
}
