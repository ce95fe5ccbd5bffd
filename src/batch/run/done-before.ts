import { resolve } from 'node:path';
import { KINDS } from '../../protocol/kinds.ts';
import type { BatchItem, ItemFile, ItemState } from '../item.ts';
import type { Decision } from '../plan/decision.ts';

/**
 * The state of an item that needs nothing from this run. The journal has the files in the order of the parts of the result.
 * @param folder of the results, absolute
 */
export function doneBefore(
  { kind }: Pick<BatchItem, 'kind'>,
  { before, jobId, files }: Extract<Decision, { step: 'done' }>,
  folder: string,
): Extract<ItemState, { phase: 'done' }> {
  const parts = Object.entries(KINDS[kind].result).filter(([, { type }]) => type === 'asset');
  const stored = files.map(
    ({ path, size, sha256 }, position): ItemFile => ({
      asset: parts[position]?.[0] ?? '',
      path: resolve(folder, path),
      bytes: size,
      sha256,
    }),
  );
  return { phase: 'done', jobId, before, credits: null, files: stored };
}
