/** Recognizes rolling captions, which repeat each row until it has moved up, as automatic captions of video sites do. Pure. */
import type { SpokenLine } from '../../protocol/subtitle-line.ts';

type TimedLine = Omit<SpokenLine, 'index'>;

/** Captions that roll follow each other at once; times are rounded to hundredths of a second in some formats. */
const AT_ONCE_MS = 20;

/**
 * Returns each row of rolling captions once, from where it appears to where the next one does; null for other subtitles, in which
 * rarely a cue repeats rows of the previous one.
 * @param cues in order of time
 */
export function unrollCaptions(cues: readonly TimedLine[]): TimedLine[] | null {
  const lines: { start_ms: number; end_ms: number; text: string; speaker?: string }[] = [];
  let before: readonly string[] = [];
  let endMs = Number.NEGATIVE_INFINITY;
  let [repeated, rolled] = [0, 0];
  for (const { start_ms, end_ms, text, speaker } of cues) {
    const rows = text.split('\n');
    const kept = start_ms - endMs > AT_ONCE_MS ? 0 : countRepeated(before, rows);
    if (kept > 0) repeated += 1;
    if (kept > 0 && kept < rows.length) rolled += 1;
    const last = lines.at(-1);
    if (last !== undefined && kept > 0) last.end_ms = kept < rows.length ? start_ms : end_ms;
    for (const row of rows.slice(kept))
      lines.push({ start_ms, end_ms, text: row, ...(speaker === undefined ? {} : { speaker }) });
    before = rows;
    endMs = end_ms;
  }
  return rolled > 0 && repeated * 2 >= cues.length ? lines : null;
}

/** Screens for captions have 15 rows. Source: CEA-608. */
const MOST_ROWS = 15;

/** How many of the first rows are the last ones of the previous cue. */
function countRepeated(before: readonly string[], rows: readonly string[]): number {
  for (let count = Math.min(before.length, rows.length, MOST_ROWS); count > 0; count -= 1) {
    if (rows.slice(0, count).join('\n') === before.slice(-count).join('\n')) return count;
  }
  return 0;
}
