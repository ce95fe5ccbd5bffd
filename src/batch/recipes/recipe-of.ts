/** Chooses the recipe of an item. */
import type { Failure } from '../../base/failure.ts';
import { isCopied, isSplit } from '../input.ts';
import { isJoinedKey } from '../records/item-key.ts';
import type { Task } from '../run/batch.ts';
import { findRecall } from '../run/recall.ts';
import type { Run } from '../run/run.ts';
import { type Recipe, work } from '../run/step.ts';
import { copyRecipe } from './copy.ts';
import { oneFileRecipe } from './one-file.ts';
import { isTrackGone, redubRecipe, trackGoneFailure } from './redub.ts';
import { splitRecipe } from './split.ts';
import { linesToSend, maskedGoneFailure, translationRecipe } from './translation.ts';

/** Null for an item whose result is that of one job, and for one that needs nothing. */
export async function recipeOf(run: Run, task: Task): Promise<Recipe | null> {
  const { item, decision } = task;
  const { input, kind } = item;
  const place = run.batch.delivery;
  const isNew = decision.step === 'new';
  if (isNew && input.type === 'file' && item.gathers !== undefined) return oneFileRecipe(item, input);
  if (isNew && input.type === 'file' && isCopied(input)) return copyRecipe(item, input);
  if (kind === 'dubbing' && input.type === 'lines' && !isSplit(input)) {
    if (isTrackGone(decision)) return refuse(trackGoneFailure());
    if (isNew && decision.redub !== undefined) return redubRecipe(place, item, input, decision.redub);
  }
  const merged = kind === 'subtitle_translation' ? await mergedRecipe(run, task) : null;
  if (merged !== null) return merged;
  const isDue = isNew || decision.step === 'continue';
  return isDue && isSplit(input) ? splitRecipe(place, item) : null;
}

/** For a result that can neither be fetched nor made again for nothing. */
function refuse(failure: Failure): Recipe {
  const refusing = work('merge', [], async () => {
    throw failure;
  });
  return () => refusing;
}

/** Null for a translation that is one plain job, or has one already. */
async function mergedRecipe({ batch, recalled }: Run, { item, decision }: Task): Promise<Recipe | null> {
  const { memory, terms, masksTerms = false, options, delivery, warn } = batch;
  const { input } = item;
  const isJoined = decision.step === 'continue' && 'key' in decision.next && isJoinedKey(decision.next.key);
  const { recorded } = recalled;
  const common = { memory, terms, masksTerms, fresh: options.fresh, template: delivery.template, recorded };
  const recall = await findRecall(common, item, decision);
  if (recall === null && isJoined && !isSplit(input) && !masksTerms) return refuse(maskedGoneFailure());
  const isMasked = masksTerms && terms !== undefined && (isJoined || decision.step === 'new');
  if (recall === null && !isMasked) return null;
  if (input.type !== 'lines' || (recall === null && isSplit(input))) {
    warn(
      `${item.label}: its terms are sent as they are: they are replaced in a file of up to 10,000 lines only.`,
    );
    return null;
  }
  const known = recall?.texts ?? input.lines.map(() => null);
  const sent = linesToSend(item, input, known, masksTerms ? terms : undefined);
  if (recall !== null || sent.masked !== null) return translationRecipe(delivery, item, sent, recall);
  // The terms behind the placeholders of that job are no longer known.
  return isJoined ? refuse(maskedGoneFailure()) : null;
}
