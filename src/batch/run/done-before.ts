import type { BatchItem, ItemState } from '../item.ts';
import type { Decision } from '../plan/decision.ts';
import { nameParts } from '../record-folder.ts';

/** The state of an item that needs nothing from this run. */
export function doneBefore(
  { kind }: Pick<BatchItem, 'kind'>,
  { before, jobId, files }: Extract<Decision, { step: 'done' }>,
): Extract<ItemState, { phase: 'done' }> {
  const stored = nameParts(kind, files).map(({ asset, path, size, sha256 }) => ({
    asset: asset ?? '',
    path,
    bytes: size,
    sha256,
  }));
  return { phase: 'done', jobId, before, credits: null, files: stored };
}
