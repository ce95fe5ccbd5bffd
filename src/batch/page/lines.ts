/** Aligns subtitles in two languages. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

export interface LinePair {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly original: SubtitleLine | null;
  readonly translated: SubtitleLine | null;
}

/**
 * Pairs each line with the one that it overlaps most, each line at most once; other lines stay single. Inputs and result are
 * ordered by time. The time of a pair is that of its translated line, which is the spoken one.
 */
export function pairLines(
  originals: readonly SubtitleLine[],
  translations: readonly SubtitleLine[],
): LinePair[] {
  const pairs: LinePair[] = [];
  const taken = new Set<SubtitleLine>();
  let first = 0;
  for (const translated of translations) {
    // Lines that ended before this one started cannot pair with it or with any later one.
    while ((originals[first]?.end_ms ?? Number.POSITIVE_INFINITY) <= translated.start_ms) first += 1;
    const original = findPartner(originals, first, translated, taken);
    if (original !== null) taken.add(original);
    pairs.push({ start_ms: translated.start_ms, end_ms: translated.end_ms, original, translated });
  }
  for (const original of originals) {
    if (taken.has(original)) continue;
    pairs.push({ start_ms: original.start_ms, end_ms: original.end_ms, original, translated: null });
  }
  return pairs.sort((left, right) => left.start_ms - right.start_ms);
}

function findPartner(
  originals: readonly SubtitleLine[],
  first: number,
  translated: SubtitleLine,
  taken: ReadonlySet<SubtitleLine>,
): SubtitleLine | null {
  let best: SubtitleLine | null = null;
  let most = 0;
  for (let at = first; at < originals.length; at += 1) {
    const original = originals[at];
    if (original === undefined || original.start_ms >= translated.end_ms) break;
    const shared =
      Math.min(original.end_ms, translated.end_ms) - Math.max(original.start_ms, translated.start_ms);
    if (shared > most && !taken.has(original)) {
      best = original;
      most = shared;
    }
  }
  return best;
}

/** Index of the last line that has started at a time, even if it has ended; -1 before the first. */
export function lineAt(lines: readonly { readonly start_ms: number }[], ms: number): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle]?.start_ms ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
