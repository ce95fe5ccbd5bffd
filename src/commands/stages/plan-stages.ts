/** The plan of a localization in stages, with all that can be checked before anything is sent. */
import { stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import { namedPaths } from '../../batch/plan/candidate.ts';
import { collect } from '../../batch/plan/collect.ts';
import { recordedResults } from '../../batch/plan/decide-items.ts';
import type { Decision } from '../../batch/plan/decision.ts';
import { type Delivery, readDelivery } from '../../batch/plan/delivery.ts';
import { checkSpace } from '../../batch/plan/disk-space.ts';
import type { InputProblem } from '../../batch/plan/input.ts';
import { findAlike } from '../../batch/plan/items.ts';
import { type PlacedItem, planItems } from '../../batch/plan/plan-items.ts';
import { settle } from '../../batch/plan/settle.ts';
import { unusable } from '../../batch/plan/unusable.ts';
import { readBatchLog } from '../../batch/report/read-batch.ts';
import { type VideoItem, videoStage } from '../../batch/stages/items.ts';
import { foldStageRecords, type StageRecords } from '../../batch/stages/records.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Context } from '../context.ts';
import { createPlanIo } from '../job/job-plan.ts';
import { readHistory, warnOfDamage } from '../job/read-history.ts';
import { createFinder, type Finder, type Known } from './find-subtitles.ts';
import type { SubtitleReport } from './given-subtitle.ts';
import { readStageChoices } from './stage-options.ts';
import { needsTranslation, type StagePlan, type Talk, type Wish } from './stage-plan.ts';
import { tellReports } from './tell-edits.ts';

const KIND = 'auto_localization';

type Options = Readonly<Record<string, unknown>>;

/**
 * Tells what was changed in the subtitles that are used, and what viewers would stumble over in them.
 * @throws Failure (`usage`) that lists every problem found; `disk`
 */
export async function planStages(
  context: Pick<Context, 'io' | 'terminal' | 'signal'>,
  operands: readonly string[],
  options: Options,
): Promise<StagePlan> {
  const { io, terminal } = context;
  const choices = readStageChoices(options);
  const planIo = createPlanIo(io, { kind: KIND, options, signal: context.signal });
  const delivery = readDelivery(KIND, options, planIo);
  const history = await readHistory(context, options);
  warnOfDamage(context, history);
  const { recorded } = history;
  const stages = foldStageRecords((await readBatchLog(delivery.folder)).records);
  const problems: InputProblem[] = [];
  const request = { kind: KIND, operands, options, body: {}, problems: [] } as const;
  const collection = await collect(request, planIo, problems);
  const results = new Set([...recordedResults(recorded, delivery.folder), ...ownVideos(stages, delivery)]);
  const placed = await planItems(request, collection.candidates, { delivery, results }, planIo, problems);
  problems.push(...findAlike(placed.items.map(({ item }) => item)), ...findUnfit(placed.items));
  const named = namedPaths(io.cwd, operands, options);
  const planned = await settleVideos(placed.items, { choices, delivery, stages, recorded }, named, problems);
  const reports: SubtitleReport[] = [];
  const known = { choices, delivery, recorded, stages };
  const examineLines = (kind: JobKind) =>
    createPlanIo(io, { kind, options, signal: context.signal }).examineLines;
  const finder = createFinder(known, { cwd: io.cwd, examineLines }, problems, reports);
  const talks = await findTalks(planned, known, finder);
  problems.push(...findConflicts(talks, choices));
  await tellReports(reports, terminal, problems);
  const shortage = choices.stopAfter === null ? await checkSpace(planned, delivery, planIo) : null;
  if (problems.length > 0 || shortage !== null) throw unusable(problems, shortage);
  return { ...known, talks, notes: [...collection.notes, ...placed.notes] };
}

/** Videos that stages have finished are no inputs of the next run. */
function ownVideos({ finished }: StageRecords, { folder }: Delivery): readonly string[] {
  return [...finished.values()].map(({ newest }) => resolve(folder, newest.path));
}

function findUnfit(items: readonly PlacedItem[]): InputProblem[] {
  return items.flatMap(({ item, paths }): InputProblem[] => {
    const pointer = item.label;
    if (item.input.type === 'unusable') return [{ pointer: item.input.label, detail: item.input.detail }];
    if (item.input.type !== 'file')
      return [
        {
          pointer,
          detail: 'is no file here; stages put the picture together on this machine: fetch it first',
        },
      ];
    if (paths === null) return [{ pointer, detail: 'has no job whose id --name could use; leave out {id}' }];
    return [];
  });
}

/** Holds the places of the finished videos against what lies there. */
async function settleVideos(
  items: readonly PlacedItem[],
  known: Known,
  named: readonly string[],
  problems: InputProblem[],
): Promise<readonly PlannedItem[]> {
  const { choices, delivery } = known;
  const decisions = await Promise.all(
    items.map((placed): Promise<Decision> | Decision =>
      choices.stopAfter === null ? decideVideo(placed, known) : NOTHING_TO_WRITE,
    ),
  );
  return settle(items, decisions, delivery, named, problems);
}

const NOTHING_TO_WRITE: Decision = { step: 'done', before: 'downloaded', jobId: null, files: [] };
const TO_BE_WRITTEN: Decision = { step: 'new', after: null };

async function decideVideo({ item, paths }: PlacedItem, { delivery, stages }: Known): Promise<Decision> {
  const record = stages.finished.get(item.key);
  const [path] = paths ?? [];
  if (record === undefined || path === undefined || delivery.existing !== 'refuse') return TO_BE_WRITTEN;
  const found = await stat(path).catch(() => null);
  if (found === null) return TO_BE_WRITTEN;
  if (relative(delivery.folder, path) === record.newest.path && record.sizes.has(found.size))
    return NOTHING_TO_WRITE;
  return { step: 'edited', path };
}

async function findTalks(
  planned: readonly PlannedItem[],
  known: Known,
  finder: Finder,
): Promise<readonly Talk[]> {
  const files = planned.flatMap((each) => (isVideo(each.item) ? [{ ...each, item: each.item }] : []));
  const talks: Talk[] = [];
  for (const sharing of Map.groupBy(files, ({ item }) => item.input.path).values()) {
    const wishes: Wish[] = [];
    for (const { item, decision, paths } of sharing) {
      const isLeftOut = decision.step === 'done' && decision.before === 'exists';
      const given = isLeftOut ? null : await finder.findTarget(item);
      wishes.push({ item, path: paths?.[0] ?? known.delivery.folder, given, isLeftOut });
    }
    const [first] = wishes;
    if (first !== undefined) talks.push(await findTalk(first.item, wishes, known, finder));
  }
  return talks;
}

async function findTalk(
  item: VideoItem,
  wishes: readonly Wish[],
  { choices, recorded }: Known,
  finder: Finder,
): Promise<Talk> {
  const isRead = choices.stopAfter === 'recognize' || wishes.some(needsTranslation);
  const targets = wishes.flatMap((wish) => wish.item.targetLanguage ?? []);
  const given = isRead ? await finder.findSource(item, targets) : null;
  const isHeard = recorded.intents.byItem.has(videoStage('subtitle_recognition', item).key);
  if (given !== null || isHeard || choices.stopAfter === 'recognize') return { item, wishes, given };
  // What a translation was made from is gone; before the video is paid for to be heard, the translation stands.
  const kept = wishes.map(async (wish): Promise<Wish> => {
    return needsTranslation(wish) ? { ...wish, given: await finder.findLeft(wish.item) } : wish;
  });
  return { item, wishes: await Promise.all(kept), given };
}

function isVideo(item: PlannedItem['item']): item is VideoItem {
  return item.input.type === 'file';
}

/** What one file can only be for one video, and one reading of a video only for all its languages. */
function findConflicts(
  talks: readonly Talk[],
  { subtitle, sourceSubtitle }: Known['choices'],
): InputProblem[] {
  const problems: InputProblem[] = [];
  const wishes = talks.flatMap((talk) => talk.wishes);
  const beside = 'put such files beside the videos, named by language, and use --from-subtitles';
  if (subtitle !== null && wishes.length > 1)
    problems.push({ pointer: '--subtitle', detail: `is for one video and one language; ${beside}` });
  if (sourceSubtitle !== null && talks.length > 1)
    problems.push({ pointer: '--source-subtitle', detail: `is for one video; ${beside}` });
  for (const { item, wishes: sharing } of talks) {
    const languages = new Set(sharing.map((wish) => wish.item.fields.source_language ?? 'auto'));
    if (languages.size > 1)
      problems.push({ pointer: item.input.label, detail: 'is asked for in several source languages' });
  }
  return problems;
}
