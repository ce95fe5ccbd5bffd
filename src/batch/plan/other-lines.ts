/** Decides about finished translations for which the memory has other lines since. */
import type { BatchItem } from '../item.ts';
import { newestAttempt } from '../records/item-key.ts';
import type { Choices, Decision, Recorded } from './decision.ts';

/** With --clobber such a translation is made again, from the memory; without, its lines are counted. */
export async function decideOtherLines(
  item: BatchItem,
  decision: Decision,
  { attempts }: Recorded,
  { otherLines }: Pick<Choices, 'otherLines'>,
): Promise<Decision> {
  const files = newestAttempt(item.key, attempts)?.files ?? [];
  if (otherLines === undefined || item.kind !== 'subtitle_translation' || files.length === 0) return decision;
  if (decision.step === 'done' && decision.before === 'downloaded') {
    const count = await otherLines.count(item, files[0]?.path ?? null);
    if (!otherLines.isUsed || count === 0) return count === 0 ? decision : { ...decision, otherLines: count };
    return { step: 'new', after: null, replaces: files };
  }
  // An edited or lost result, which would be fetched again as it was.
  const isFetched =
    decision.step === 'expired' || (decision.step === 'continue' && decision.next.step === 'download');
  return otherLines.isUsed && isFetched && (await otherLines.count(item, null)) > 0
    ? { step: 'new', after: null, replaces: files }
    : decision;
}
