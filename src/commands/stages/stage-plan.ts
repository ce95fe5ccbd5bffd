/** Plan of a localization in stages. */

import type { Failure } from '../../base/failure.ts';
import type { Delivery } from '../../batch/inputs/delivery.ts';
import { linesStage, type StageLines, type VideoItem, videoStage } from '../../batch/inputs/stage-items.ts';
import type { BatchItem } from '../../batch/item.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import { type DecidedItems, decideItems } from '../../batch/plan/decide-items.ts';
import type { Choices, Recorded } from '../../batch/plan/decision.ts';
import type { Refused } from '../../batch/plan/refusal.ts';
import { listJobs, type StageRecipe, stagesRecipe } from '../../batch/recipes/stages.ts';
import { newestAttempt } from '../../batch/records/item-key.ts';
import type { StageRecords } from '../../batch/records/stage-records.ts';
import type { RunOptions, Task } from '../../batch/run/batch.ts';
import type { Budget } from '../../batch/run/budget.ts';
import type { Capabilities } from '../../engines/engine.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { Speakers } from '../../protocol/subtitle-line.ts';
import type { Context } from '../context/context.ts';
import { createSupportCheck, refusalOf } from '../jobs/plan-jobs.ts';
import { unknownPricesFailure } from '../jobs/spending.ts';
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
  /** The files with all languages of a video, with --one-file, and their sounds. */
  readonly files: readonly PlannedItem[];
  readonly unusable: readonly UnusableItem[];
  /** Keys of all items, in the order of the inputs. */
  readonly order: readonly string[];
  /** The records of the folder, as earlier runs left them. */
  readonly recorded: Recorded;
  readonly stages: StageRecords;
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

/** The targets that are made, with their recipes. */
export function listTargets({ videos, choices }: Pick<StagePlan, 'videos' | 'choices'>) {
  return videos.flatMap((video) =>
    video.targets
      .filter(({ isSkipped }) => !isSkipped)
      .map((target) => ({ video, target, recipe: recipeOf(video, target, choices) })),
  );
}

export function recipeOf(
  video: SourceVideo,
  target: VideoTarget,
  { stopAfter, terms }: StageChoices,
): StageRecipe {
  return stagesRecipe({ item: target.item, source: video.given, target: target.given, stopAfter, terms });
}

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
      const pending = pendingOf({ ...plan, videos: [{ ...video, targets: [target] }] });
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

/** The jobs that may be needed and are not done. */
function pendingOf(plan: StagePlan): readonly BatchItem[] {
  const { attempts } = plan.recorded;
  return itemsOf(plan).filter(({ key }) => newestAttempt(key, attempts)?.state !== 'downloaded');
}

function itemsOf(plan: StagePlan): readonly BatchItem[] {
  return listTargets(plan).flatMap(({ recipe }) => listJobs(recipe));
}

/** The kinds of all jobs that the videos need. */
export function listKinds(plan: StagePlan, items = itemsOf(plan)): readonly JobKind[] {
  return [...new Set(items.map(({ kind }) => kind))];
}

/** The kinds of those that are not done. */
export function listPendingKinds(plan: StagePlan): readonly JobKind[] {
  return listKinds(plan, pendingOf(plan));
}

/**
 * Whether --max-credits can hold for all stages, before the first is paid.
 * @param budget with the costs of earlier runs
 * @returns see `unknownPricesFailure`
 */
export function stagePricesFailure(plan: StagePlan, options: RunOptions, budget: Budget): Failure | null {
  if (options.maxCredits === null) return null;
  const kinds = options.fresh ? listKinds(plan) : listPendingKinds(plan);
  return unknownPricesFailure(kinds, options.prices ?? {}, budget);
}

/** Decides what a job still needs. */
export async function decideStage(
  { recorded }: Pick<StagePlan, 'recorded'>,
  choices: Choices,
  item: BatchItem,
): Promise<Task & Pick<DecidedItems, 'renamed'>> {
  // Changed subtitles are edits, so their results are replaced. A changed video does not replace subtitles that were edited.
  const replace = choices.replace || KINDS[item.kind].input !== 'video';
  // The next stage needs the files of this one, wherever they are now.
  const own = { ...choices, skipDone: false, replace };
  const { decisions, renamed } = await decideItems([item], recorded, own);
  return { item, decision: decisions[0] ?? { step: 'new', after: null }, renamed };
}

/** One item for each video and target language, and for each file with several, as for a localization in one job. */
export function plannedOf({
  videos,
  files,
  unusable,
}: Pick<StagePlan, 'videos' | 'files' | 'unusable'>): readonly PlannedItem[] {
  const targets = videos.flatMap((video) => video.targets);
  return [
    ...unusable.map((each): PlannedItem => ({ ...each, paths: null })),
    ...targets.map(({ item, path }): PlannedItem => {
      return { item, decision: { step: 'new', after: null }, paths: [path] };
    }),
    ...files,
  ];
}

/** Placeholders of the items of all its stages, without lines; their keys do not contain any. */
export function stepsOf({ item }: VideoTarget): readonly BatchItem[] {
  return [
    videoStage('subtitle_recognition', item),
    linesStage('subtitle_translation', item, null),
    videoStage('audio_separation', item),
    linesStage('dubbing', item, null),
  ];
}

/** Keys of the jobs of targets that are dubbed in the end. */
export function dubbedSteps(plan: StagePlan): ReadonlySet<string> {
  const jobs = listTargets(plan).map(({ recipe }) => listJobs(recipe));
  const dubbed = jobs.filter((all) => all.some(({ kind }) => kind === 'dubbing'));
  return new Set(dubbed.flat().map(({ key }) => key));
}
