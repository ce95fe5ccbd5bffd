/** What each stage would do and cost, as far as it can be known before the stages in front of it have run. */

import { resolve } from 'node:path';
import type { BatchItem } from '../batch/item.ts';
import { decideItems } from '../batch/plan/decide-items.ts';
import type { Decision } from '../batch/plan/decision.ts';
import { type Forecast, forecast, type Purse } from '../batch/plan/dry-run.ts';
import { linesStage, type VideoItem, videoStage } from '../batch/stages/items.ts';
import type { Context } from '../context/context.ts';
import type { SubtitleLine } from '../protocol/subtitle-line.ts';
import { readHistory } from '../workflow/jobs/read-history.ts';
import { readStageLines } from './given-subtitle.ts';
import type { StageOptions } from './stage-options.ts';
import {
  isDubbed,
  needsBackground,
  needsRecognition,
  needsTranslation,
  type StagePlan,
  type StageSubtitle,
  type Talk,
  type Wish,
} from './stage-plan.ts';

type Lines = readonly SubtitleLine[] | null;
/** What is known of subtitles that a stage works on. */
type Known = Pick<StageSubtitle, 'lines' | 'parts'> | null;
type KindOfLines = 'subtitle_translation' | 'dubbing';

/** One forecast for each kind of job, in the order of the stages; kinds without jobs are omitted. */
export async function forecastStages(
  context: Context,
  options: StageOptions,
  plan: StagePlan,
  purse: Purse,
): Promise<readonly Forecast[]> {
  const { recorded, choices } = await readHistory(context, options);
  const { stopAfter } = plan.choices;
  const rows: { item: BatchItem; decision: Decision }[] = [];

  /** Adds the item; gives the lines of its result when that is here already. */
  async function add(item: BatchItem, replace: boolean): Promise<Lines> {
    const [decision] = await decideItems([item], recorded, {
      ...choices,
      replace: replace || choices.replace,
    });
    rows.push({ item, decision: decision ?? NEW });
    const file = decision?.step === 'done' ? decision.files[0] : undefined;
    return file?.path.endsWith('.srt') ? readStageLines(resolve(plan.delivery.folder, file.path)) : null;
  }

  async function addLines(kind: KindOfLines, video: VideoItem, from: Known): Promise<Lines> {
    if (from !== null) return add(linesStage(kind, video, { label: '', ...from }), true);
    const unknown = linesStage(kind, video, { label: '', lines: [], parts: null });
    rows.push({ item: { ...unknown, units: null }, decision: NEW });
    return null;
  }

  async function addWish(wish: Wish, source: Known): Promise<void> {
    const target = wish.given ?? whole(await addLines('subtitle_translation', wish.item, source));
    if (stopAfter !== null) return;
    if (isDubbed(wish)) await addLines('dubbing', wish.item, target);
  }

  async function addTalk(talk: Talk): Promise<void> {
    const isHeard = stopAfter === 'recognize' ? talk.given === null : needsRecognition(talk);
    const recognition = videoStage('subtitle_recognition', talk.item);
    const source = isHeard ? whole(await add(recognition, false)) : talk.given;
    if (stopAfter === 'recognize') return;
    const wishes = talk.wishes.filter((wish) => needsTranslation(wish) || wish.given !== null);
    for (const wish of wishes) await addWish(wish, source);
    if (stopAfter === null && wishes.some(needsBackground))
      await add(videoStage('audio_separation', talk.item), false);
  }

  for (const talk of plan.talks) await addTalk(talk);
  const planned = rows.map((row) => ({ ...row, paths: null }));
  return ORDER.flatMap((kind) => {
    const own = planned.filter(({ item }) => item.kind === kind);
    return own.length === 0 ? [] : [forecast({ kind, planned: own }, purse)];
  });
}

function whole(lines: Lines): Known {
  return lines === null ? null : { lines, parts: null };
}

const NEW: Decision = { step: 'new', after: null };
const ORDER = ['subtitle_recognition', 'subtitle_translation', 'dubbing', 'audio_separation'] as const;
