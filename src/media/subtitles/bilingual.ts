/** Subtitles in two languages: which text of the source belongs to a translated cue, and how both are written as one. Pure. */
import { covers, overlapMs, pairCues } from '../../protocol/pair-cues.ts';
import type { SpokenLine, SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { PairedLine, SourcePlace } from '../work.ts';
import { stripMarkup } from './text.ts';

type Times = Pick<SubtitleLine, 'start_ms' | 'end_ms'>;

/**
 * Pairs by number where both are shown at the same time, and otherwise each cue with the one that it shares most time with: cues may
 * have been joined, split, moved or removed. A cue of the source that has no translation is left out.
 */
export function pairSource<T extends SubtitleLine>(
  lines: readonly T[],
  source: readonly SubtitleLine[],
): (T & { readonly source?: string })[] {
  const numbered = pairCues(source, lines);
  const pairs = source.map((cue, at) => {
    const own = numbered[at] ?? null;
    if (own !== null && overlapMs(cue, own) > 0) return { cue, line: own };
    const nearest = findNearest(lines, cue);
    return { cue, line: nearest !== null && covers(cue, nearest) ? nearest : null };
  });
  const byLine = Map.groupBy(pairs, ({ line }) => line);
  return lines.map((line) => {
    const own = byLine.get(line)?.map(({ cue }) => cue) ?? [findNearest(source, line) ?? []].flat();
    const texts = own.map(({ text }) => stripMarkup(text)).filter((text) => text !== '');
    return texts.length === 0 ? line : { ...line, source: texts.join('\n') };
  });
}

/** The cue that shares most time with another one, the first of several; null if none shares any. */
function findNearest<T extends Times>(cues: readonly T[], cue: Times): T | null {
  let best: T | null = null;
  let most = 0;
  for (const other of cues) {
    const shared = overlapMs(cue, other);
    if (shared <= most) continue;
    best = other;
    most = shared;
  }
  return best;
}

/** Slanted, which all players show, and by which the two are told apart again. */
export function markSource(text: string): string {
  return `<i>${text}</i>`;
}

/** The lines with both texts in one. */
export function joinSource(lines: readonly PairedLine[], place: SourcePlace): SpokenLine[] {
  return lines.map(({ source, ...line }) => {
    if (source === undefined) return line;
    const texts = [markSource(source), line.text];
    return { ...line, text: (place === 'above' ? texts : texts.reverse()).join('\n') };
  });
}

const SOURCE = String.raw`<i>(?<source>(?:(?!<\/?i>)[^])+)<\/i>`;
const JOINED = {
  above: new RegExp(String.raw`^${SOURCE}\n(?<text>[^]+)$`),
  below: new RegExp(String.raw`^(?<text>[^]+)\n${SOURCE}$`),
} as const;

/** Takes apart what `joinSource` has joined. A cue that has one text is one of the translation. */
export function splitSource<T extends { readonly text: string }>(
  cues: readonly T[],
): { readonly lines: readonly T[]; readonly source: readonly T[] } {
  const count = (place: SourcePlace) => cues.filter(({ text }) => JOINED[place].test(text)).length;
  // Translated rows may be slanted as well.
  const pattern = JOINED[count('below') > count('above') ? 'below' : 'above'];
  const split = cues.map((cue) => {
    const { text = cue.text, source } = pattern.exec(cue.text)?.groups ?? {};
    return { line: { ...cue, text }, source: source === undefined ? [] : [{ ...cue, text: source }] };
  });
  return { lines: split.map(({ line }) => line), source: split.flatMap(({ source }) => source) };
}
