/** The plan of a localization in stages, checked as far as possible before anything is sent. */

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { freeBytes } from '../../base/folder.ts';
import { type InputProblem, isCopied, joinProblems, unusableInputFailure } from '../../batch/input.ts';
import { readDelivery } from '../../batch/inputs/delivery.ts';
import type { PlacedItem } from '../../batch/inputs/plan-items.ts';
import { type VideoItem, videoStage } from '../../batch/inputs/stage-items.ts';
import type { BatchItem } from '../../batch/item.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import { settleItems } from '../../batch/plan/decide-items.ts';
import type { Decision, Recorded } from '../../batch/plan/decision.ts';
import { checkSpace } from '../../batch/plan/disk-space.ts';
import { type CollectedItems, collectBatch } from '../../batch/plan/plan.ts';
import { isRefused } from '../../batch/plan/refusal.ts';
import type { BatchRecords } from '../../batch/records/batch-records.ts';
import { keyWithName, SAMPLE_SUFFIX } from '../../batch/records/item-key.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Context } from '../context/context.ts';
import { readLook } from '../context/subtitle-style.ts';
import type { Command } from '../jobs/drive.ts';
import type { PreparationOptions } from '../jobs/job-options.ts';
import {
  createPlanIo,
  createReadingNote,
  findMissingPrograms,
  readEarlierRuns,
  requireUsedFfmpeg,
} from '../jobs/plan-jobs.ts';
import { readDubOptions, requireOneDub } from '../jobs/redub.ts';
import { checkTerms, openTerms } from '../jobs/terms.ts';
import { createSubtitleFinder, type PlanState, type SubtitleFinder } from './find-subtitles.ts';
import { printReports, type SubtitleReport } from './given-subtitle.ts';
import { readStageChoices, type StageChoices, type StageOptions } from './stage-options.ts';
import type { SourceVideo, StagePlan, StageSubtitle, UnusableItem, VideoTarget } from './stage-plan.ts';

const KIND = 'auto_localization';

/** The items of a localization in stages, and what is needed to decide about them. */
interface CollectedStages extends CollectedItems {
  readonly choices: StageChoices;
  /** Records of earlier runs, read without a lock. */
  readonly records: BatchRecords;
}

/**
 * The command of a localization in stages, and its videos; checks its options. Nothing is locked, written or sent.
 * @param isRetry see `runStages`
 * @throws Failure (`usage`) that lists all problems; `disk`
 */
export async function collectStages(
  context: Context,
  operands: readonly string[],
  options: StageOptions,
  isRetry = false,
): Promise<{ readonly command: Command; readonly collected: CollectedStages }> {
  const { io } = context;
  const runOptions = readDubOptions(KIND, options, context, isRetry);
  const choices = { ...readStageChoices(options), terms: await openTerms(options, io) };
  const { terms } = choices;
  const planIo = {
    // The finished videos are put together here, in the end also after --stop-after.
    ...createPlanIo(io, { kind: KIND, options, signal: context.signal, isUsedHere: true }),
    onRead: createReadingNote(KIND, context),
  };
  const delivery = readDelivery(KIND, options, planIo);
  const { records, results } = await readEarlierRuns(context, delivery);
  const problems = await findMissingPrograms(options, io);
  await requireUsedFfmpeg(context, options);
  const look = await readLook(options.subtitleStyle, io);
  // Subtitles are the result of --stop-after.
  const videos =
    options.stopAfter === undefined ? options : { ...options, oneFile: false, default: undefined };
  const request = { kind: KIND, operands, options: videos, body: {}, problems, look } as const;
  const subtitles = [...records.stages.subtitles.keys()].map((path) => resolve(delivery.folder, path));
  const collected = await collectBatch(request, planIo, new Set([...results, ...subtitles]), findUnfit);
  const [items, all] = [collected.items, collected.all].map((placed) =>
    placed.map((each) => ({ ...each, item: nameSample(each.item) })),
  ) as [PlacedItem[], PlacedItem[]]; // as many as there were
  const languages = all.filter(isOneLanguage).map(({ item }) => item.targetLanguage);
  await checkTerms(KIND, options, terms, languages, context);
  requireOneDub(runOptions, items.filter(isOneLanguage).length);
  const command = {
    kind: KIND,
    context,
    operands,
    options,
    runOptions,
    delivery,
    terms,
    inStages: true,
  } as const;
  return { command, collected: { ...collected, items, all, choices, records } };
}

/** Names the jobs and the subtitles of a sample apart from those of the whole video; the path of its result is known. */
function nameSample(item: BatchItem): BatchItem {
  const { input, key, gathers } = item;
  if (input.type !== 'file' || input.sample === undefined) return item;
  const name = `${input.name}${SAMPLE_SUFFIX}`;
  const own = { ...item, key: keyWithName(key, name) ?? key };
  // It is named by its template, as is every result of a job.
  if (gathers !== undefined) return { ...own, gathers: gathers.map(nameSample), input: { ...input, name } };
  return { ...own, input: { ...input, name, stem: `${input.stem}.sample` } };
}

/** Whether it goes through the stages, unlike the file with all languages of a video. */
function isOneLanguage({ item }: Pick<PlacedItem, 'item'>): boolean {
  return item.gathers === undefined;
}

type PlanContext = Pick<Context, 'io' | 'terminal' | 'signal'>;

/**
 * Decides what the stages of each video still need, and prints what users changed in its subtitle files and the warnings about
 * them. Of the videos in a folder, one that cannot be used, or whose subtitles cannot, fails alone.
 * @param records those of the folder that are not about jobs
 * @throws Failure (`usage`) that lists all problems; `disk`
 */
export async function decideStages(
  context: PlanContext,
  options: PreparationOptions,
  { choices, delivery, items, all, notes }: CollectedStages,
  recorded: Recorded,
  records: BatchRecords,
): Promise<StagePlan> {
  const { io, terminal } = context;
  const known = { choices, delivery, recorded, stages: records.stages };
  const decisions = await Promise.all(items.map((placed) => decideVideo(placed, known)));
  const { planned, problems: conflicts } = await settleItems(items, decisions, delivery);
  const shortage = await checkSpace(planned, delivery, { freeBytes });
  const problems: InputProblem[] = [...conflicts];
  const reports: SubtitleReport[] = [];
  const examineLines = (kind: JobKind) => {
    const voices = kind === 'dubbing' ? choices.voices : null;
    return createPlanIo(io, { kind, options, signal: context.signal, voices }).examineLines;
  };
  const search: Search = async (find, isNeeded = true) => {
    const found: InputProblem[] = [];
    const told = isNeeded ? reports : [];
    const subtitle = await find(createSubtitleFinder(known, { cwd: io.cwd, examineLines }, found, told));
    return { subtitle, problems: found };
  };
  const { videos, failed } = await findVideos(planned, known, search);
  problems.push(...findConflicts(videos, all.filter(isOneLanguage), choices));
  // A shard does not read the subtitles of others.
  if (failed.length === 0) problems.push(...findUnnamed(videos, choices, items.length === all.length));
  const isNamed = new Set(planned.flatMap((each) => (each.isNamed ? [each.item.key] : [])));
  const isWhole = choices.subtitle !== null || choices.sourceSubtitle !== null;
  const unusable: UnusableItem[] = planned.flatMap(({ item, decision }) =>
    isRefused(decision) ? [{ item, decision }] : [],
  );
  for (const { item, problems: found } of failed) {
    if (isWhole || isNamed.has(item.key)) addNew(problems, found);
    else unusable.push({ item, decision: { step: 'unusable', detail: joinProblems(found, item.label) } });
  }
  printReports(reports, terminal);
  if (problems.length > 0 || shortage !== null) throw unusableInputFailure(problems, shortage);
  for (const note of notes) terminal.note(note);
  const files = planned.filter((each) => !isOneLanguage(each) && !isRefused(each.decision));
  return { ...known, videos, files, unusable, order: planned.map(({ item }) => item.key) };
}

/** Adds problems that are not listed yet: the languages of a video share those of its source subtitles. */
function addNew(problems: InputProblem[], found: readonly InputProblem[]): void {
  for (const each of found) {
    const isKnown = problems.some((one) => one.pointer === each.pointer && one.detail === each.detail);
    if (!isKnown) problems.push(each);
  }
}

function findUnfit(items: readonly PlacedItem[]): InputProblem[] {
  return items.flatMap(({ item, paths }): InputProblem[] => {
    const pointer = item.label;
    if (item.input.type === 'unusable') return [];
    if (item.input.type !== 'file')
      return [
        {
          pointer,
          detail: 'is not a file on this machine, where stages put the video together; download it first',
        },
      ];
    if (paths === null) return [{ pointer, detail: 'has no job whose id --name could use; leave out {id}' }];
    return [];
  });
}

const NOTHING_TO_WRITE: Decision = { step: 'done', before: 'downloaded', jobId: null, files: [] };
const TO_BE_WRITTEN: Decision = { step: 'new', after: null };

/** Decides about the finished video of an item. With --stop-after none is written. */
async function decideVideo({ item, paths }: PlacedItem, known: PlanState): Promise<Decision> {
  const { choices, delivery, recorded } = known;
  if (item.input.type === 'unusable') return { step: 'unusable', detail: item.input.detail };
  if (choices.stopAfter !== null) return NOTHING_TO_WRITE;
  const step = item.gathers === undefined ? 'export' : 'result';
  const own = recorded.findOutputs?.({ item: item.key, step }) ?? [];
  const [path] = paths ?? [];
  if (own.length === 0 || path === undefined || delivery.existing !== 'refuse') return TO_BE_WRITTEN;
  const found = await stat(path).catch(() => null);
  if (found === null) return TO_BE_WRITTEN;
  // Its bytes are compared before it is replaced.
  const isOwn = own.some((file) => file.path === path && file.size === found.size);
  return isOwn ? NOTHING_TO_WRITE : { step: 'edited', path };
}

/** Looks for subtitles and returns the problems of the files found; reports on files that no job needs are not printed. */
type Search = (
  find: (finder: SubtitleFinder) => Promise<StageSubtitle | null>,
  isNeeded?: boolean,
) => Promise<{ readonly subtitle: StageSubtitle | null; readonly problems: readonly InputProblem[] }>;

interface FailedItem {
  readonly item: VideoItem;
  readonly problems: readonly InputProblem[];
}

interface FoundVideos {
  readonly videos: readonly SourceVideo[];
  /** Items whose subtitles cannot be used. `videos` does not contain them. */
  readonly failed: readonly FailedItem[];
}

async function findVideos(
  planned: readonly PlannedItem[],
  known: PlanState,
  search: Search,
): Promise<FoundVideos> {
  const files = planned.flatMap((each) =>
    isVideo(each.item) && isOneLanguage(each) && !isRefused(each.decision)
      ? [{ ...each, item: each.item }]
      : [],
  );
  const videos: SourceVideo[] = [];
  const failed: FailedItem[] = [];
  for (const sharing of Map.groupBy(files, ({ item }) => item.input.path).values()) {
    const targets: VideoTarget[] = [];
    for (const { item, decision, paths } of sharing) {
      const isSkipped = decision.step === 'done' && decision.before === 'exists';
      const { subtitle: given, problems } = isSkipped ? NONE : await search((find) => find.findTarget(item));
      if (problems.length > 0) failed.push({ item, problems });
      else targets.push({ item, path: paths?.[0] ?? known.delivery.folder, given, isSkipped });
    }
    const [first] = targets;
    if (first === undefined) continue;
    const languages = sharing.flatMap(({ item }) => item.targetLanguage ?? []);
    const found = await findVideo({ item: first.item, targets, given: null }, languages, known, search);
    failed.push(...found.failed);
    videos.push(...found.videos);
  }
  return { videos, failed };
}

const NONE = { subtitle: null, problems: [] } as const;

/** @param languages all requested target languages of the video */
async function findVideo(
  { item, targets }: SourceVideo,
  languages: readonly string[],
  { choices, recorded }: PlanState,
  search: Search,
): Promise<FoundVideos> {
  const isRecognizedOnly = choices.stopAfter === 'recognize';
  const needsSource = (target: VideoTarget) =>
    isRecognizedOnly || needsTranslation(target) || isBilingual(target);
  const isNeeded = targets.some(needsSource);
  const { subtitle, problems } = targets.every(({ isSkipped }) => isSkipped)
    ? NONE
    : await search((find) => find.findSource(item, languages), isNeeded);
  // Only tracks and terms need the transcript of a translation that is given, and they do without.
  const given = problems.length > 0 ? null : subtitle;
  if (isNeeded && problems.length > 0) {
    const failed = targets.filter(needsSource).map((target): FailedItem => ({ item: target.item, problems }));
    const others = targets.filter((target) => !needsSource(target));
    return { videos: others.length === 0 ? [] : [{ item, targets: others, given: null }], failed };
  }
  const isRecognized = recorded.attempts.byItem.has(videoStage('subtitle_recognition', item).key);
  if (given !== null || isRecognized || isRecognizedOnly)
    return { videos: [{ item, targets, given }], failed: [] };
  // The source subtitles of an existing translation are gone. Using the translation is free, recognition is not.
  const failed: FailedItem[] = [];
  const kept: VideoTarget[] = [];
  for (const target of targets) {
    const found = needsTranslation(target) ? await search((find) => find.findWritten(target.item)) : null;
    if (found !== null && found.problems.length > 0)
      failed.push({ item: target.item, problems: found.problems });
    else if (isBilingual(target) && (found?.subtitle ?? target.given) !== null)
      failed.push({ item: target.item, problems: [noSource(target.item)] });
    else kept.push(found === null ? target : { ...target, given: found.subtitle });
  }
  return { videos: kept.length === 0 ? [] : [{ item, targets: kept, given }], failed };
}

function needsTranslation({ item, given, isSkipped }: VideoTarget): boolean {
  return given === null && !isSkipped && !isCopied(item.input);
}

function isBilingual({ item, isSkipped }: VideoTarget): boolean {
  return item.bilingual !== undefined && !isSkipped;
}

/** Nothing recognizes what has a translation already, which may be of other words. */
function noSource({ label }: VideoItem): InputProblem {
  const detail =
    'has a translation, but no subtitles in the spoken language for --bilingual; put them beside the video and add --from-subtitles, or name them with --source-subtitle';
  return { pointer: label, detail };
}

function isVideo(item: PlannedItem['item']): item is VideoItem {
  return item.input.type === 'file';
}

/** Checks before anything is sent that the speakers of --voices are known. @param isWhole whether all videos are there */
function findUnnamed(
  videos: readonly SourceVideo[],
  { voices, stopAfter, format }: PlanState['choices'],
  isWhole: boolean,
): readonly InputProblem[] {
  if (voices === null || stopAfter !== null) return [];
  const problems: InputProblem[] = [];
  for (const { targets, given } of videos) {
    const due = targets.filter(needsTranslation);
    const [first] = due;
    if (first === undefined) continue;
    voices.note(given?.speakers ?? []);
    if (given === null || given.speakers.length === 0)
      problems.push({
        pointer: first.item.input.label,
        detail: 'has no subtitles that say who speaks; put WebVTT or ASS with names beside the video',
      });
    else if (format === 'srt')
      problems.push({
        pointer: '--voices',
        detail: 'SRT has no place for the names of the translation; add --subtitle-format vtt or ass',
      });
  }
  return problems.length > 0 || !isWhole ? problems : voices.findUnknown();
}

/** A subtitle file belongs to one video, and a video is recognized in one language. */
function findConflicts(
  videos: readonly SourceVideo[],
  planned: readonly Pick<PlannedItem, 'item'>[],
  { subtitle, sourceSubtitle }: PlanState['choices'],
): InputProblem[] {
  const problems: InputProblem[] = [];
  const labels = new Set(planned.map(({ item }) => item.input.label));
  const beside = 'put such files beside the videos, named by language, and use --from-subtitles';
  if (subtitle !== null && planned.length > 1)
    problems.push({ pointer: '--subtitle', detail: `is for one video and one language; ${beside}` });
  if (sourceSubtitle !== null && labels.size > 1)
    problems.push({ pointer: '--source-subtitle', detail: `is for one video; ${beside}` });
  for (const { item, targets: sharing } of videos) {
    const languages = new Set(sharing.map((target) => target.item.fields.source_language ?? 'auto'));
    if (languages.size > 1)
      problems.push({
        pointer: item.input.label,
        detail: 'is requested in several source languages; choose one',
      });
  }
  return problems;
}
