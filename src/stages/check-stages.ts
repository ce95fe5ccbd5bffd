/** Whether the engines of the embedded service can do all stages, before the first of them is paid. */

import type { BatchItem } from '../batch/item.ts';
import type { PlannedItem } from '../batch/plan/batch-plan.ts';
import { newestIntent } from '../batch/plan/item-key.ts';
import { linesStage, videoStage } from '../batch/stages/items.ts';
import type { Capabilities } from '../engines/engine.ts';
import { checkSupport } from '../workflow/jobs/plan-jobs.ts';
import {
  isDubbed,
  needsBackground,
  needsRecognition,
  needsTranslation,
  type StagePlan,
  type Talk,
} from './stage-plan.ts';

const ANY_LINES = { label: '', lines: [], parts: null };

/** @throws Failure as `checkSupport` does; a service elsewhere (`capabilities` null) answers for itself */
export function checkStages(plan: StagePlan, capabilities: Capabilities | null): Promise<void> {
  const items = plan.talks.flatMap((talk) => itemsOf(talk, plan));
  const pending = items.filter(
    ({ key }) => newestIntent(key, plan.recorded.intents)?.outcome.phase !== 'downloaded',
  );
  const planned = pending.map(
    (item): PlannedItem => ({ item, decision: { step: 'new', after: null }, paths: null }),
  );
  return checkSupport(planned, capabilities);
}

/** Items that stand for all that will be asked for a video; their lines do not matter here. */
function itemsOf(talk: Talk, { choices: { stopAfter } }: StagePlan): readonly BatchItem[] {
  const isHeard = stopAfter === 'recognize' || needsRecognition(talk);
  const items: BatchItem[] = isHeard ? [videoStage('subtitle_recognition', talk.item)] : [];
  if (stopAfter === 'recognize') return items;
  for (const wish of talk.wishes.filter(({ isLeftOut }) => !isLeftOut)) {
    if (needsTranslation(wish))
      items.push(linesStage('subtitle_translation', wish.item, ANY_LINES, talk.given?.language ?? null));
    if (stopAfter !== null) continue;
    if (isDubbed(wish)) items.push(linesStage('dubbing', wish.item, ANY_LINES));
    if (needsBackground(wish)) items.push(videoStage('audio_separation', wish.item));
  }
  return items;
}
