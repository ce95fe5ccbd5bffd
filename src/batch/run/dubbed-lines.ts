/** Keeps the subtitles of each dub. */

import { isSplit } from '../input.ts';
import type { BatchItem } from '../item.ts';
import { findBase } from '../plan/redub.ts';
import { keepLines } from '../records/kept-dubs.ts';
import { recordFolder } from '../records/record-folder.ts';
import type { Run } from './run.ts';

/**
 * Keeps the subtitles of a dub that is about to be made, so that a later run knows what has changed since.
 * @param keepsTrack whether its earlier track is being patched
 * @throws Failure (`disk`)
 */
export async function keepDubbedLines(
  { batch, journal }: Pick<Run, 'batch' | 'journal'>,
  { key, kind, input, part }: BatchItem,
  keepsTrack = false,
): Promise<void> {
  const { redub } = batch.options;
  if (redub === undefined || kind !== 'dubbing' || part !== undefined) return;
  if (input.type !== 'lines' || isSplit(input)) return;
  const before = findBase(key, journal.attempts)?.input_sha256 ?? null;
  const lines = input.lines.map(({ index, start_ms, end_ms, text }) => ({ index, start_ms, end_ms, text }));
  const dubbed = { service: await redub.service(), lines };
  await keepLines(recordFolder(batch.delivery), { key, sha256: input.sha256 }, dubbed, before, keepsTrack);
}
