/** What of a cue is translated, and how the translation is put back into its form: pure. */
import { hasWords, stripMarkup } from '../text/markup.ts';
import { wrapText } from '../text/wrap.ts';

/** A row that begins with a dash is another speaker's. */
const SPEAKER = /^\s*[-–—]\s*(?=\S)/;
/** Markup around a whole cue, as in `<i>…</i>` and `{\an8}…`. */
const OPENING = /^(?:\s*(?:<[a-z][^<>]{0,200}>|\{\\[^{}]{0,200}\}))+/i;
const CLOSING = /(?:<\/[a-z][^<>]{0,20}>\s*)+$/i;
const SENTENCE_END = /[.?!…]["'”»)]?$/u;

export interface CueParts {
  /** Texts to translate, one a speaker, each on one row; empty when there are no words in the cue. */
  readonly texts: readonly string[];
  /** The cue with other texts in their places. */
  restore(translated: readonly string[]): string;
}

/** Takes a cue apart. Rows of one speaker are joined, since sentences run over them. */
export function takeApart(text: string): CueParts {
  const opening = OPENING.exec(text)?.[0] ?? '';
  const closing = CLOSING.exec(text.slice(opening.length))?.[0] ?? '';
  const rows = stripMarkup(text).split('\n');
  const dialogue = rows.length > 1 && rows.every((row) => SPEAKER.test(row));
  const texts = dialogue ? rows.map((row) => row.replace(SPEAKER, '')) : [rows.join(' ')];
  if (!hasWords(texts.join(''))) return { texts: [], restore: () => text };
  return {
    texts,
    restore(translated) {
      const finished = translated.map((part, at) => likeSource(part, texts[at] ?? ''));
      const body = dialogue ? finished.map((part) => `- ${part}`).join('\n') : wrapText(finished.join(' '));
      return `${opening}${body}${closing}`;
    },
  };
}

/** An unknown word or a contraction leaves a space before the point; no language here is written so. */
const SPACED_POINT = /\s+(?=[.,](?:\s|$))/g;

/** Begins with a capital and ends a sentence where the source does. */
function likeSource(translated: string, source: string): string {
  const text = translated.replace(/\s+/g, ' ').replace(SPACED_POINT, '').trim();
  const capital = /^\P{L}*\p{Lu}/u.test(source);
  const cased = capital ? text.replace(/\p{L}/u, (letter) => letter.toUpperCase()) : text;
  const end = SENTENCE_END.exec(source)?.[0] ?? '';
  return end === '' || SENTENCE_END.test(cased) ? cased : cased + end;
}
