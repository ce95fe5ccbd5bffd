/** Which cue of a translation belongs to which cue of its source, and which cues have none. Pure. */

export interface TimedCue {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
}

/**
 * The cue of a translation for each cue of its source: of the same number, or of the same start if cues were left out or added.
 * @returns null for a cue that has none
 */
export function pairCues<T extends Omit<TimedCue, 'text'>>(
  source: readonly Omit<TimedCue, 'text'>[],
  translated: readonly T[],
): (T | null)[] {
  if (source.length === translated.length && !isOutOfStep(source, translated)) return [...translated];
  const starts = Map.groupBy(translated, ({ start_ms }) => start_ms);
  // A cue with both times of another one belongs to that.
  const same = source.map(({ start_ms, end_ms }) => {
    const own = starts.get(start_ms) ?? [];
    const at = own.findIndex((cue) => cue.end_ms === end_ms);
    return at < 0 ? null : (own.splice(at, 1)[0] ?? null);
  });
  return source.map(({ start_ms }, at) => same[at] ?? starts.get(start_ms)?.shift() ?? null);
}

/** Whether one cue was left out and another one split: there are as many as before, but not at the same times. */
function isOutOfStep(
  source: readonly Omit<TimedCue, 'text'>[],
  translated: readonly Omit<TimedCue, 'text'>[],
): boolean {
  const starts = new Set(source.map(({ start_ms }) => start_ms));
  const isApart = source.some((cue, at) => {
    const other = translated[at];
    return other !== undefined && overlapMs(cue, other) <= 0;
  });
  // Without a common start the times were moved as a whole.
  return isApart && translated.some(({ start_ms }) => starts.has(start_ms));
}

/**
 * The cues with words whose translation is missing: no cue has their number or start, and none was joined or split from them. A cue
 * without text is none.
 */
export function findMissingCues<T extends TimedCue>(
  source: readonly T[],
  translated: readonly TimedCue[],
): readonly T[] {
  const pairs = pairCues(source, translated);
  const isPaired = new Set(
    pairs.filter((pair, at) => {
      const cue = source[at];
      return pair !== null && pair.start_ms === cue?.start_ms && pair.end_ms === cue.end_ms;
    }),
  );
  const others = translated.filter((cue) => !isPaired.has(cue) && hasText(cue));
  return source.filter((cue, at) => {
    const pair = pairs[at] ?? null;
    const isFound = (pair !== null && hasText(pair)) || others.some((other) => covers(other, cue));
    return !isFound && /[\p{L}\p{N}]/u.test(wordsOf(cue.text));
  });
}

/** The beginning of a text, in one row. @param most characters */
export function firstWords(text: string, most: number): string {
  const words = wordsOf(text);
  return words.length > most ? `${words.slice(0, most).trim()}…` : words;
}

/** The text in one row, without tags such as `<i>` and `{\an8}`. */
function wordsOf(text: string): string {
  return text
    .replace(/<[^<>]{0,200}>|\{\\[^{}]{0,200}\}/g, '')
    .replaceAll('\n', ' ')
    .trim();
}

function hasText({ text }: TimedCue): boolean {
  return wordsOf(text) !== '';
}

/** Half of the shorter one: cues that follow each other may overlap a little. */
export function covers(one: Omit<TimedCue, 'text'>, other: Omit<TimedCue, 'text'>): boolean {
  const shorter = Math.min(one.end_ms - one.start_ms, other.end_ms - other.start_ms);
  return overlapMs(one, other) >= shorter / 2;
}

/** Negative for cues that are apart. */
export function overlapMs(one: Omit<TimedCue, 'text'>, other: Omit<TimedCue, 'text'>): number {
  return Math.min(one.end_ms, other.end_ms) - Math.max(one.start_ms, other.start_ms);
}
