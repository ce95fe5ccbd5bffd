/** Distributes the translation of a sentence over the cues that it spans. */
import { SPACELESS } from '../../media/subtitles/text.ts';
import { isProtected } from './protected.ts';

/**
 * A clause that ends this close to the exact place, in characters, ends its cue: about one word. Readers expect the break
 * there.
 */
const CLAUSE_PULL = 8;

/**
 * Distributes a translation over the cues of its sentence, in proportion to the lengths of the sources, and only between
 * words.
 * @returns one text for each source; null if there are not enough words
 */
export function distributeTranslation(
  translated: string,
  sources: readonly string[],
  language: string,
): string[] | null {
  const text = translated.replace(/\s+/g, ' ').trim();
  const places = breaksIn(text, language);
  const total = sum(sources);
  const parts: string[] = [];
  let from = 0;
  let next = 0;
  for (let cut = 1; cut < sources.length; cut += 1) {
    const exact = (sum(sources.slice(0, cut)) / total) * text.length;
    const last = places.length - (sources.length - cut);
    if (next > last) return null;
    let best = next;
    for (let at = next; at <= last; at += 1) {
      if (distance(text, places[at] ?? 0, exact) < distance(text, places[best] ?? 0, exact)) best = at;
    }
    const place = places[best] ?? text.length;
    parts.push(text.slice(from, place).trim());
    from = place;
    next = best + 1;
  }
  return [...parts, text.slice(from).trim()];
}

function distance(text: string, place: number, exact: number): number {
  const isClause = /[,;:.!?…—–،、，；：。]["'”’»)]*\s*$/u.test(text.slice(Math.max(0, place - 4), place));
  return Math.abs(place - exact) - (isClause ? CLAUSE_PULL : 0);
}

function sum(texts: readonly string[]): number {
  return texts.reduce((length, text) => length + text.length, 0);
}

/**
 * Returns the places where a text can be cut: after spaces, and between words of scripts without spaces. A placeholder is
 * not cut.
 */
function breaksIn(text: string, language: string): number[] {
  const spaces = [...text.matchAll(/\s/g)]
    .filter(({ index }) => !isProtected(text, index))
    .map(({ index }) => index + 1);
  if (!SPACELESS.test(text)) return spaces;
  const words = [...new Intl.Segmenter(language, { granularity: 'word' }).segment(text)]
    .filter(({ index, isWordLike }) => index > 0 && isWordLike === true)
    .filter(
      ({ index, segment }) => SPACELESS.test(segment.charAt(0)) || SPACELESS.test(text.charAt(index - 1)),
    )
    .map(({ index }) => index);
  return [...new Set([...spaces, ...words])].sort((a, b) => a - b);
}
