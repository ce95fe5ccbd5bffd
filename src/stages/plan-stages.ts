/** The plan of a localization in stages, with all that can be checked before anything is sent. */
import { stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { PlannedItem } from '../batch/plan/batch-plan.ts';
import { recordedResults } from '../batch/plan/decide-items.ts';
import type { Decision } from '../batch/plan/decision.ts';
import { type Delivery, readDelivery } from '../batch/plan/delivery.ts';
import { type InputProblem, joinProblems, unusable as notUsable } from '../batch/plan/input.ts';
import { makePlan } from '../batch/plan/plan.ts';
import type { PlacedItem } from '../batch/plan/plan-items.ts';
import { readBatchLog } from '../batch/report/read-batch.ts';
import { type VideoItem, videoStage } from '../batch/stages/items.ts';
import { foldStageRecords, type StageRecords } from '../batch/stages/records.ts';
import type { Context } from '../context/context.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import { createPlanIo } from '../workflow/jobs/plan-jobs.ts';
import { readHistory, warnOfDamage } from '../workflow/jobs/read-history.ts';
import { createFinder, type Finder, type Known } from './find-subtitles.ts';
import type { SubtitleReport } from './given-subtitle.ts';
import { readStageChoices, type StageOptions } from './stage-options.ts';
import {
  needsTranslation,
  type StagePlan,
  type StageSubtitle,
  type Talk,
  type UnusableItem,
  type Wish,
} from './stage-plan.ts';
import { tellReports } from './tell-edits.ts';

const KIND = 'auto_localization';

/**
 * Reports what was changed in the subtitles that are used, and what viewers would stumble over in them. A video of a folder
 * that cannot be used, or whose subtitles cannot, fails alone.
 * @throws Failure (`usage`) that lists every problem found; `disk`
 */
export async function planStages(
  context: Pick<Context, 'io' | 'terminal' | 'signal'>,
  operands: readonly string[],
  options: StageOptions,
): Promise<StagePlan> {
  const { io, terminal } = context;
  const choices = readStageChoices(options);
  const planIo = createPlanIo(io, { kind: KIND, options, signal: context.signal });
  const delivery = readDelivery(KIND, options, planIo);
  const history = await readHistory(context, options);
  warnOfDamage(context, history);
  const { recorded } = history;
  const stages = foldStageRecords((await readBatchLog(delivery.folder)).records);
  const known = { choices, delivery, recorded, stages };
  const request = { kind: KIND, operands, options, body: {}, problems: [] } as const;
  const checked = await makePlan(request, delivery, planIo, {
    results: new Set([...recordedResults(recorded, delivery.folder), ...ownVideos(stages, delivery)]),
    earlier: null,
    check: findUnfit,
    decide: (items) => Promise.all(items.map((placed) => decideVideo(placed, known))),
  });
  const { planned, shortage } = checked;
  const problems: InputProblem[] = [...checked.problems];
  const reports: SubtitleReport[] = [];
  const examineLines = (kind: JobKind) =>
    createPlanIo(io, { kind, options, signal: context.signal }).examineLines;
  const search: Search = async (find) => {
    const found: InputProblem[] = [];
    const subtitle = await find(createFinder(known, { cwd: io.cwd, examineLines }, found, reports));
    return { subtitle, problems: found };
  };
  const { talks, failed } = await findTalks(planned, known, search);
  problems.push(...findConflicts(talks, planned, choices));
  const isNamed = new Set(planned.flatMap((each) => (each.isNamed ? [each.item.key] : [])));
  const isWhole = choices.subtitle !== null || choices.sourceSubtitle !== null;
  const unusable: UnusableItem[] = planned.flatMap(({ item, decision }) =>
    decision.step === 'unusable' ? [{ item, detail: decision.detail }] : [],
  );
  for (const { item, problems: found } of failed) {
    if (isWhole || isNamed.has(item.key)) addNew(problems, found);
    else unusable.push({ item, detail: joinProblems(found, item.label) });
  }
  await tellReports(reports, terminal);
  if (problems.length > 0 || shortage !== null) throw notUsable(problems, shortage);
  const order = planned.map(({ item }) => item.key);
  return { ...known, talks, unusable, order, notes: checked.notes };
}

/** Languages of a video share what is wrong with its words. */
function addNew(problems: InputProblem[], found: readonly InputProblem[]): void {
  for (const each of found) {
    const isKnown = problems.some((one) => one.pointer === each.pointer && one.detail === each.detail);
    if (!isKnown) problems.push(each);
  }
}

/** Videos that stages have finished are no inputs of the next run. */
function ownVideos({ finished }: StageRecords, { folder }: Delivery): readonly string[] {
  return [...finished.values()].map(({ newest }) => resolve(folder, newest.path));
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

/** What to do about a finished video; before a gate none is written. */
async function decideVideo({ item, paths }: PlacedItem, known: Known): Promise<Decision> {
  const { choices, delivery, stages } = known;
  if (item.input.type === 'unusable') return { step: 'unusable', detail: item.input.detail };
  if (choices.stopAfter !== null) return NOTHING_TO_WRITE;
  const record = stages.finished.get(item.key);
  const [path] = paths ?? [];
  if (record === undefined || path === undefined || delivery.existing !== 'refuse') return TO_BE_WRITTEN;
  const found = await stat(path).catch(() => null);
  if (found === null) return TO_BE_WRITTEN;
  if (relative(delivery.folder, path) === record.newest.path && record.sizes.has(found.size))
    return NOTHING_TO_WRITE;
  return { step: 'edited', path };
}

/** Looks for a subtitle; gives what is wrong with the files that it found. */
type Search = (
  find: (finder: Finder) => Promise<StageSubtitle | null>,
) => Promise<{ readonly subtitle: StageSubtitle | null; readonly problems: readonly InputProblem[] }>;

interface FailedItem {
  readonly item: VideoItem;
  readonly problems: readonly InputProblem[];
}

interface FoundTalks {
  readonly talks: readonly Talk[];
  /** Items whose subtitles cannot be used; they are in none of the talks. */
  readonly failed: readonly FailedItem[];
}

async function findTalks(planned: readonly PlannedItem[], known: Known, search: Search): Promise<FoundTalks> {
  const files = planned.flatMap((each) =>
    isVideo(each.item) && each.decision.step !== 'unusable' ? [{ ...each, item: each.item }] : [],
  );
  const talks: Talk[] = [];
  const failed: FailedItem[] = [];
  for (const sharing of Map.groupBy(files, ({ item }) => item.input.path).values()) {
    const wishes: Wish[] = [];
    for (const { item, decision, paths } of sharing) {
      const isLeftOut = decision.step === 'done' && decision.before === 'exists';
      const { subtitle: given, problems } = isLeftOut ? NONE : await search((find) => find.findTarget(item));
      if (problems.length > 0) failed.push({ item, problems });
      else wishes.push({ item, path: paths?.[0] ?? known.delivery.folder, given, isLeftOut });
    }
    const [first] = wishes;
    if (first === undefined) continue;
    const targets = sharing.flatMap(({ item }) => item.targetLanguage ?? []);
    const found = await findTalk({ item: first.item, wishes, given: null }, targets, known, search);
    failed.push(...found.failed);
    talks.push(...found.talks);
  }
  return { talks, failed };
}

const NONE = { subtitle: null, problems: [] } as const;

/** @param targets all languages that are asked for of the video */
async function findTalk(
  { item, wishes }: Talk,
  targets: readonly string[],
  { choices, recorded }: Known,
  search: Search,
): Promise<FoundTalks> {
  const isHeardOnly = choices.stopAfter === 'recognize';
  const needsSource = (wish: Wish) => isHeardOnly || needsTranslation(wish);
  const { subtitle: given, problems } = wishes.some(needsSource)
    ? await search((find) => find.findSource(item, targets))
    : NONE;
  if (problems.length > 0) {
    const failed = wishes.filter(needsSource).map((wish): FailedItem => ({ item: wish.item, problems }));
    const others = wishes.filter((wish) => !needsSource(wish));
    return { talks: others.length === 0 ? [] : [{ item, wishes: others, given: null }], failed };
  }
  const isHeard = recorded.intents.byItem.has(videoStage('subtitle_recognition', item).key);
  if (given !== null || isHeard || isHeardOnly) return { talks: [{ item, wishes, given }], failed: [] };
  // What a translation was made from is gone; before the video is paid for to be heard, the translation stands.
  const failed: FailedItem[] = [];
  const kept: Wish[] = [];
  for (const wish of wishes) {
    const left = needsTranslation(wish) ? await search((find) => find.findLeft(wish.item)) : null;
    if (left !== null && left.problems.length > 0) failed.push({ item: wish.item, problems: left.problems });
    else kept.push(left === null ? wish : { ...wish, given: left.subtitle });
  }
  return { talks: kept.length === 0 ? [] : [{ item, wishes: kept, given }], failed };
}

function isVideo(item: PlannedItem['item']): item is VideoItem {
  return item.input.type === 'file';
}

/** One file can be the subtitles of one video only, and a video can be recognized in one language only. */
function findConflicts(
  talks: readonly Talk[],
  planned: readonly PlannedItem[],
  { subtitle, sourceSubtitle }: Known['choices'],
): InputProblem[] {
  const problems: InputProblem[] = [];
  const videos = new Set(planned.map(({ item }) => item.input.label));
  const beside = 'put such files beside the videos, named by language, and use --from-subtitles';
  if (subtitle !== null && planned.length > 1)
    problems.push({ pointer: '--subtitle', detail: `is for one video and one language; ${beside}` });
  if (sourceSubtitle !== null && videos.size > 1)
    problems.push({ pointer: '--source-subtitle', detail: `is for one video; ${beside}` });
  for (const { item, wishes: sharing } of talks) {
    const languages = new Set(sharing.map((wish) => wish.item.fields.source_language ?? 'auto'));
    if (languages.size > 1)
      problems.push({
        pointer: item.input.label,
        detail: 'is requested in several source languages; choose one',
      });
  }
  return problems;
}
