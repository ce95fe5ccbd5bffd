/** Checks the translation of a cue by a language model, which may run away, lose tags, answer in another language, or be long. */
import { baseLanguage } from '../../protocol/language-tag.ts';

/** Fault of a translation; completes "the translation of a cue …". */
export type CueFault =
  | 'is missing'
  | 'appears twice'
  | 'is empty'
  | 'is far too long'
  | 'lost or changed a tag'
  | 'repeats itself'
  | 'is in another script';

/** @param text the translation, without space around it */
export function findCueFault(text: string, source: string): CueFault | null {
  if (text === '') return 'is empty';
  if (text.length > 10 * source.length + 100) return 'is far too long';
  return tagsOf(text) === tagsOf(source) ? null : 'lost or changed a tag';
}

/** Tags of SRT and of ASS. */
const TAG = /<\/?[a-z][^<>]*>|\{\\[^{}]*\}/gi;

function tagsOf(text: string): string {
  return (text.match(TAG) ?? []).sort().join('');
}

/** A part that follows itself three times. The bound keeps the search short. */
const LOOP = /(.{4,80}?)\1{3}/su;

/** Finds the faults of small models: loops, and answers in a language that was not asked for. */
export function findSmallModelFault(
  text: string,
  source: string,
  languages: { readonly from: string; readonly to: string },
): CueFault | null {
  if (LOOP.test(text) && !LOOP.test(source)) return 'repeats itself';
  return isForeign(text, languages) ? 'is in another script' : null;
}

/** Scripts that ISO 15924 names together. */
const SCRIPTS: Readonly<Record<string, readonly string[]>> = {
  Jpan: ['Hiragana', 'Katakana', 'Han'],
  Kore: ['Hangul', 'Han'],
  Hans: ['Han'],
  Hant: ['Han'],
};

/** Whether most letters are neither of the target language nor of the source, whose names may stay. */
function isForeign(text: string, { from, to }: { readonly from: string; readonly to: string }): boolean {
  const scripts = [from, to].map((tag) => new Intl.Locale(tag).maximize().script);
  // Latin, too: names and terms of any language are written in it.
  const known = [...new Set(['Latn', ...scripts])].flatMap((script) =>
    script === undefined ? [] : (SCRIPTS[script] ?? [script]),
  );
  const letters = text.match(/\p{L}/gu) ?? [];
  const own = new RegExp(`[${known.map((script) => `\\p{Script=${script}}`).join('')}]`, 'u');
  return 2 * letters.filter((letter) => own.test(letter)).length < letters.length;
}

/**
 * Characters that can be read in a second. 17 is the usual limit of subtitles; a character of Chinese, Japanese or
 * Korean carries more. Source: timed text style guides of Netflix, reading speed for adults, rounded.
 */
const READING_SPEED = 17;
const DENSE_READING_SPEEDS: Readonly<Record<string, number>> = { zh: 9, yue: 9, ja: 6, ko: 12 };
/** Shorter limits leave no room for a word. */
const LEAST_CHARACTERS = 12;

/** Returns the most characters of a translation that can be read or spoken in the time of its cue, in milliseconds. */
export function mostCharacters(durationMs: number, to: string): number {
  const speed = DENSE_READING_SPEEDS[baseLanguage(to)] ?? READING_SPEED;
  return Math.max(LEAST_CHARACTERS, Math.round((durationMs / 1000) * speed));
}

/** Gives a translation as many rows as its source has. */
export function withRowsOf(source: string, answer: string): string {
  const rows = answer
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((row) => row.trim())
    .filter((row) => row !== '');
  const wanted = source.trim().split('\n').length;
  if (rows.length <= 1 && wanted <= 1) return rows[0] ?? '';
  return rows.length === wanted ? rows.join('\n') : balanceRows(rows.join(' '), wanted).join('\n');
}

/** Splits a text at spaces into at most so many rows of similar length. */
function balanceRows(text: string, count: number): string[] {
  if (count <= 1 || text === '') return [text];
  const ideal = text.length / count;
  const spaces = [...text.matchAll(/ (?![^<>{}]*[>}])/g)].map(({ index }) => index);
  const at = spaces.reduce<number | null>(
    (best, place) => (best === null || Math.abs(place - ideal) < Math.abs(best - ideal) ? place : best),
    null,
  );
  if (at === null) return [text];
  return [text.slice(0, at), ...balanceRows(text.slice(at + 1), count - 1)];
}
