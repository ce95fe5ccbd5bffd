/** Pairs of tags. Pure. */

/** A tag that begins or ends a stretch of text. */
export interface Tag {
  /** The same for both tags of a pair. */
  readonly key: string;
  readonly isEnd: boolean;
}

/** The indexes of two tags. */
export interface TagPair {
  readonly begin: number;
  readonly end: number;
}

/** Returns the pairs, in the order in which they begin. They do not cross; tags without a partner are in none. */
export function findPairs(tags: readonly Tag[]): TagPair[] {
  const pairs: TagPair[] = [];
  const open: number[] = [];
  for (const [at, { key, isEnd }] of tags.entries()) {
    if (!isEnd) {
      open.push(at);
      continue;
    }
    const place = open.findLastIndex((begin) => tags[begin]?.key === key);
    if (place < 0) continue;
    pairs.push({ begin: open[place] ?? 0, end: at });
    open.length = place;
  }
  return pairs.sort((one, other) => one.begin - other.begin);
}
