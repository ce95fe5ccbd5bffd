/** Plan of a localization in stages. */
import { relative } from 'node:path';
import type { BatchItem } from '../../batch/item.ts';
import type { Choices, Recorded } from '../../batch/plan/decision.ts';
import type { Delivery } from '../../batch/plan/delivery.ts';
import { isCopied } from '../../batch/plan/input.ts';
import { newestAttempt } from '../../batch/plan/item-key.ts';
import type { Refused } from '../../batch/plan/refusal.ts';
import type { MissingCue } from '../../batch/report/provenance.ts';
import { knownMissing, type MadeResults, stillMissing } from '../../batch/run/check-translation.ts';
import { linesStage, type StageLines, type VideoItem, videoStage } from '../../batch/stages/items.ts';
import type { StageRecords } from '../../batch/stages/records.ts';
import type { Terms } from '../../batch/terms.ts';
import type { Capabilities } from '../../engines/engine.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Speakers, SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Context } from '../context/context.ts';
import { createSupportCheck, refusalOf } from '../jobs/plan-jobs.ts';
import type { StageChoices } from './stage-options.ts';

/** Subtitles that a stage reads or makes. */
export interface StageSubtitle extends StageLines {
  /** The file for the user, absolute. */
  readonly path: string;
  /** BCP 47 tag; null if unknown. */
  readonly language: string | null;
  readonly speakers: Speakers;
}

/** One video in one target language. */
export interface VideoTarget {
  readonly item: VideoItem;
  /** Where the finished video goes, absolute. */
  readonly path: string;
  /** The user's own or edited translation; null if there is none. */
  readonly given: StageSubtitle | null;
  /** The finished video exists and --skip-existing keeps it. */
  readonly isSkipped: boolean;
}

/** One video with all its target languages. */
export interface SourceVideo {
  readonly item: VideoItem;
  readonly targets: readonly VideoTarget[];
  /** The user's own or edited subtitles in the spoken language; null if there are none. */
  readonly given: StageSubtitle | null;
}

/** A video of a folder in one target language that fails before any stage: it or its subtitles cannot be used. */
export interface UnusableItem {
  readonly item: BatchItem;
  readonly decision: Refused;
}

export interface StagePlan {
  readonly choices: StageChoices;
  readonly delivery: Delivery;
  readonly videos: readonly SourceVideo[];
  readonly unusable: readonly UnusableItem[];
  /** Keys of all items, in the order of the inputs. */
  readonly order: readonly string[];
  /** The records of the folder, as earlier runs left them. */
  readonly recorded: Recorded;
  readonly stages: StageRecords;
  /** Those of --terms. */
  readonly terms: Terms | undefined;
  /** See `Choices`. */
  readonly otherLines?: Choices['otherLines'];
}

/** The plan without targets that end before their first stage. */
export function withoutTargets(plan: StagePlan, ended: readonly UnusableItem[]): StagePlan {
  const keys = new Set(ended.map(({ item }) => item.key));
  const videos = plan.videos.flatMap((video): SourceVideo[] => {
    const targets = video.targets.filter(({ item }) => !keys.has(item.key));
    return targets.length === 0 ? [] : [{ ...video, targets }];
  });
  return { ...plan, videos, unusable: [...plan.unusable, ...ended] };
}

/** Whether a target needs a translation. */
export function needsTranslation({ item, given, isSkipped }: VideoTarget): boolean {
  return given === null && !isSkipped && !isCopied(item.input);
}

/** Whether the speech of the video must be recognized. */
export function needsRecognition({ given, targets }: SourceVideo): boolean {
  return given === null && targets.some(needsTranslation);
}

/** Whether the result has a dub. Otherwise it keeps the original voice. */
export function isDubbed({ item: { fields, input } }: Pick<VideoTarget, 'item'>): boolean {
  return fields.mode !== 'subtitles_only' && !isCopied(input);
}

/** Whether the result contains the background sound without the voice, which needs a separation. */
export function needsBackground(target: VideoTarget): boolean {
  return isDubbed(target) && (target.item.fields.original_audio ?? 'background') === 'background';
}

interface TranslatedLines {
  /** Null if they are not known. */
  readonly source: readonly SubtitleLine[] | null;
  readonly lines: readonly SubtitleLine[];
}

/**
 * The cues that the translation of a target came without and still lacks. A file that the user brought has the cues that its author
 * wanted.
 */
export function findIncomplete(
  { choices, delivery, stages }: StagePlan,
  { item, given }: VideoTarget,
  made: MadeResults,
  { source, lines }: TranslatedLines,
): readonly MissingCue[] {
  const isMade =
    given === null ||
    (choices.subtitle === null && stages.subtitles.has(relative(delivery.folder, given.path)));
  const { key } = linesStage('subtitle_translation', item, ANY_LINES);
  return isMade ? stillMissing(knownMissing(made, key), source, lines) : [];
}

/** The lines do not matter for keys and checks. */
const ANY_LINES = { label: '', lines: [], parts: null };

/**
 * Finds before the first paid stage the targets that the engines of the embedded service cannot make.
 * @param capabilities null for a hosted service, which checks each request itself
 * @throws the Failure of the first of them, if no target is left
 */
export async function findUnsupported(
  plan: StagePlan,
  capabilities: Capabilities | null,
  context: Context,
): Promise<readonly UnusableItem[]> {
  const check = createSupportCheck(capabilities, context);
  const targets = plan.videos.flatMap((video) => video.targets.map((target) => ({ video, target })));
  const failures = await Promise.all(
    targets.map(async ({ video, target }) => {
      const pending = pendingOf([{ ...video, targets: [target] }], plan);
      const found = await Promise.all(pending.map(({ kind, fields }) => check(kind, fields)));
      return found.find((failure) => failure !== null) ?? null;
    }),
  );
  const [first] = failures;
  if (first != null && !failures.includes(null)) throw first;
  return targets.flatMap(({ target: { item } }, place): UnusableItem[] => {
    const failure = failures[place] ?? null;
    return failure === null ? [] : [{ item, decision: refusalOf(failure) }];
  });
}

/** Placeholder items for every job that is not done. */
function pendingOf(videos: StagePlan['videos'], plan: StagePlan): readonly BatchItem[] {
  const items = videos.flatMap((video) => itemsOf(video, plan));
  return items.filter(({ key }) => newestAttempt(key, plan.recorded.attempts)?.state !== 'downloaded');
}

/** The kinds of all jobs that the videos need. */
export function listKinds(plan: StagePlan): readonly JobKind[] {
  return kindsOf(plan.videos.flatMap((video) => itemsOf(video, plan)));
}

/** The kinds of those that are not done. */
export function listPendingKinds(plan: StagePlan): readonly JobKind[] {
  return kindsOf(pendingOf(plan.videos, plan));
}

function kindsOf(items: readonly BatchItem[]): readonly JobKind[] {
  return [...new Set(items.map(({ kind }) => kind))];
}

/** Placeholder items for every job this video will need. */
function itemsOf(video: SourceVideo, { choices: { stopAfter } }: StagePlan): readonly BatchItem[] {
  if (isCopied(video.item.input)) return [];
  const isRecognized = stopAfter === 'recognize' || needsRecognition(video);
  const items: BatchItem[] = isRecognized ? [videoStage('subtitle_recognition', video.item)] : [];
  if (stopAfter === 'recognize') return items;
  for (const target of video.targets.filter(({ isSkipped }) => !isSkipped)) {
    if (needsTranslation(target))
      items.push(linesStage('subtitle_translation', target.item, ANY_LINES, video.given?.language ?? null));
    if (stopAfter !== null) continue;
    if (isDubbed(target)) items.push(linesStage('dubbing', target.item, ANY_LINES));
    if (needsBackground(target)) items.push(videoStage('audio_separation', target.item));
  }
  return items;
}
