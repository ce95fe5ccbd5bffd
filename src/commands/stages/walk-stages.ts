/** Takes a target through its recipe: in the run, and in the dry run with what earlier runs have made. */
import { relative, resolve } from 'node:path';
import { type Failure, usageFailure } from '../../base/failure.ts';
import { pathExists } from '../../batch/inputs/file-status.ts';
import { languageOfStage, linesStage, videoStage } from '../../batch/inputs/stage-items.ts';
import type { MissingCue } from '../../batch/item-provenance.ts';
import type { StageJob, StageRecipe, StageStep, StageWork } from '../../batch/recipes/stages.ts';
import type { Attempts } from '../../batch/records/attempts.ts';
import type { BatchRecords } from '../../batch/records/batch-records.ts';
import { newestAttempt } from '../../batch/records/item-key.ts';
import { NO_LANGUAGE } from '../../batch/result-name.ts';
import { carryOut, madeOf } from '../../batch/run/carry-out.ts';
import { knownMissing, type MadeResults, stillMissing } from '../../batch/run/check-translation.ts';
import { baseLanguage, languageName } from '../../protocol/language-tag.ts';
import {
  type SpokenLine,
  type SubtitleLine,
  withoutSpeakers,
  withSpeakers,
} from '../../protocol/subtitle-line.ts';
import type { Context } from '../context/context.ts';
import { createLinesExaminer, nameSpeakers } from '../jobs/subtitles.ts';
import { besidePath } from './find-subtitles.ts';
import { labelOf, readStageLines } from './given-subtitle.ts';
import type { StageChoices } from './stage-options.ts';
import type { SourceVideo, StagePlan, StageSubtitle, VideoTarget } from './stage-plan.ts';

/** What subtitles are read for. */
interface Reading {
  readonly context: Pick<Context, 'io'>;
  readonly plan: StagePlan;
  /** The records of the run; those of the plan without one. */
  readonly journal?: Pick<BatchRecords, 'stages'>;
}

/** A target, and its subtitles as far as they are known. */
export interface StagedWay {
  readonly video: SourceVideo;
  readonly target: VideoTarget;
  readonly recipe: StageRecipe;
  /** Subtitles in the spoken language; null until they exist, and if no stage needs them. */
  sourceSubtitle: StageSubtitle | null;
  /** Subtitles in the target language; null until they exist. */
  targetSubtitle: StageSubtitle | null;
}

/** What is done at the steps. */
export interface StageHands {
  /** Whether the target has ended. Then nothing more is started for it; what is shared goes on. */
  isOver(): boolean;
  end(failure: Failure): void;
  /** @returns the path of what the job has made, null if that is no file; undefined if it is not done */
  run(job: StageJob): Promise<string | null | undefined>;
  /** Work that is missing needs nothing. */
  readonly work: { readonly [Name in Exclude<StageWork['does'], 'compare'>]?: () => Promise<void> };
}

/** @throws what a step has thrown, when all have ended */
export async function walkStages(reading: Reading, way: StagedWay, hands: StageHands): Promise<void> {
  let isLost = false;

  async function take(step: StageStep): Promise<void> {
    if (step.does === 'compare') return compareLanguages(way, hands);
    if (step.does !== 'job') return hands.work[step.does]?.();
    const made = await hands.run(step);
    const isSource = step.part.kind === 'subtitle_recognition';
    if (made === undefined || (!isSource && step.part.kind !== 'subtitle_translation')) return;
    const lines = made === null ? null : await readMade(reading, way, made, isSource);
    way[isSource ? 'sourceSubtitle' : 'targetSubtitle'] = lines;
    // Nothing is sent in place of lines that somebody has removed.
    isLost ||= lines === null;
  }

  await carryOut<StageStep>(
    new Map(),
    () => way.recipe({ source: way.sourceSubtitle, target: way.targetSubtitle }),
    (ready) =>
      isLost || hands.isOver() ? [] : ready.map((step) => [step, take(step).then(madeOf)] as const),
  );
}

/** Reads what an earlier run recognized, for a target that needs no translation but whose terms and tracks need the transcript. */
export async function recallTranscript(reading: Reading, way: StagedWay, attempts: Attempts): Promise<void> {
  const { key } = videoStage('subtitle_recognition', way.video.item);
  const made = newestAttempt(key, attempts)?.files[0]?.path;
  if (made !== undefined) way.sourceSubtitle = await readMade(reading, way, made, true);
}

/** The lines that a job has made; null if they no longer exist. */
async function readMade(
  reading: Reading,
  way: StagedWay,
  made: string,
  isSource: boolean,
): Promise<StageSubtitle | null> {
  const lines = await readStageLines(resolve(reading.plan.delivery.folder, made));
  if (lines === null) return null;
  if (!isSource) return translationOf(reading, way, lines);
  const { input, fields } = way.target.item;
  const asked = fields.source_language;
  const language = languageOfStage(made) ?? (typeof asked === 'string' && asked !== 'auto' ? asked : null);
  const path = await freePath(reading, besidePath(input, language, reading.plan.choices.format), language);
  return subtitleOf(reading, lines, { path, language, voices: null });
}

/** Translated lines with the speakers of their source. */
export function translationOf(
  reading: Reading,
  { target, sourceSubtitle: source }: StagedWay,
  lines: readonly SubtitleLine[],
): Promise<StageSubtitle> {
  const { choices } = reading.plan;
  const { input, targetLanguage: language } = target.item;
  const path = besidePath(input, language, choices.format);
  const spoken = source === null ? lines : nameSpeakers(lines, withSpeakers(source.lines, source.speakers));
  return subtitleOf(reading, spoken, { path, language, voices: choices.voices });
}

async function subtitleOf(
  { context: { io } }: Reading,
  spoken: readonly SpokenLine[],
  how: Pick<StageSubtitle, 'path' | 'language'> & Pick<StageChoices, 'voices'>,
): Promise<StageSubtitle> {
  const { path, language } = how;
  const { lines, speakers } = withoutSpeakers(spoken);
  // A video in parts may have more lines than the service accepts in one request.
  const examine = createLinesExaminer('subtitle_translation', true, io.limits, how.voices);
  const examined = await examine(lines, speakers);
  const { parts = null, voices } = examined.type === 'usable' ? examined : {};
  return { label: labelOf(path, io.cwd), path, language, lines, speakers, parts, voices };
}

/** A path without a language gets the tag of an unknown one, if a file of the user has it. */
async function freePath(
  { plan, journal = plan }: Reading,
  path: string,
  language: string | null,
): Promise<string> {
  const isOurs = journal.stages.subtitles.has(relative(plan.delivery.folder, path));
  if (language !== null || isOurs || !(await pathExists(path))) return path;
  return path.replace(/\.\w+$/, `.${NO_LANGUAGE}$&`);
}

/** Ends a target whose language is spoken already. */
function compareLanguages({ sourceSubtitle, target }: StagedWay, hands: StageHands): void {
  const language = sourceSubtitle?.language ?? null;
  if (language === null || baseLanguage(language) !== baseLanguage(target.item.targetLanguage ?? '')) return;
  const failure = usageFailure(
    'LANGUAGE_NOT_SUPPORTED',
    `the speech is already in ${languageName(language)}, which is the target language`,
    'Choose another with --to, or pass the subtitles to be spoken with --subtitle.',
  );
  hands.end(failure);
}

/**
 * The cues that the translation of a target came without and still lacks. A file that the user brought has the cues that its author
 * wanted.
 */
export function findIncomplete(
  { choices, delivery, stages }: StagePlan,
  { target: { item, given }, sourceSubtitle, targetSubtitle }: StagedWay,
  made: MadeResults,
): readonly MissingCue[] {
  const isMade =
    given === null ||
    (choices.subtitle === null && stages.subtitles.has(relative(delivery.folder, given.path)));
  if (targetSubtitle === null || !isMade) return [];
  const { key } = linesStage('subtitle_translation', item, null);
  return stillMissing(knownMissing(made, key), sourceSubtitle?.lines ?? null, targetSubtitle.lines);
}
