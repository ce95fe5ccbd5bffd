/**
 * Text that a translation must not change: addresses, hashtags, names with @, placeholders and numbers. An engine that
 * changes them gets the text around them instead.
 */
import { hasWords, PLAYER_TAG } from '../../media/subtitles/text.ts';

/** A part of a text that stays unchanged. */
interface Span {
  readonly kind: 'verbatim' | 'number';
  readonly start: number;
  readonly text: string;
}

/** Marks at the end of an address belong to the sentence. */
const NOT_LAST = String.raw`[^\s<>"“”«»]*[^\s<>"“”«».,;:!?'’…)\]}]`;
/** Addresses without https:// and www are recognized only under the usual endings, because `end.Then` is a typing mistake. */
const BARE_DOMAIN = String.raw`(?<![\p{L}\p{N}@._-])(?:[a-z0-9](?:[a-z0-9-]{0,62})\.){1,8}(?:com|org|net|edu|gov|mil|int|info|io|dev|app|tv|eu|uk)(?![\p{L}\p{N}-])(?:[/?#]${NOT_LAST})?`;
const VERBATIM = [
  String.raw`\p{L}[\p{L}\p{N}+.-]{0,30}:\/\/${NOT_LAST}`,
  String.raw`(?<![\p{L}\p{N}])[wW]{3}\.${NOT_LAST}`,
  String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}._%+-]{0,62}[\p{L}\p{N}_+-])?@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}`,
  BARE_DOMAIN,
  String.raw`\{\{[^{}]{0,100}\}\}`,
  String.raw`\$?\{[^\s{}\\]{1,100}\}`,
  // Tags of players are formatting, which a translation may drop.
  String.raw`(?!${PLAYER_TAG})<\/?[\p{L}_][\p{L}\p{N}_.:-]{0,60}\/?>`,
  String.raw`%\([\p{L}\p{N}_]{1,60}\)[sdif]`,
  String.raw`%(?:\d{1,2}\$)?[-+0#]{0,3}\d{0,3}(?:\.\d{1,3})?[sdiufxXeEgGc@](?!\p{L})`,
  String.raw`%\p{L}[\p{L}\p{N}_]{0,60}%`,
  String.raw`(?<![\p{L}\p{N}])[#@][\p{L}\p{N}_](?:[\p{L}\p{N}_.-]{0,62}[\p{L}\p{N}_])?`,
].join('|');
/** With the separators of all languages, so that a date, a time or a version is one number. */
const NUMBER = String.raw`\p{Nd}+(?:[.,:'’]\p{Nd}+)*`;

const PROTECTED = new RegExp(`(${VERBATIM})|${NUMBER}`, 'gu');

/** Finds the parts of a text that stay unchanged, in order. */
function findSpans(text: string): Span[] {
  return [...text.matchAll(PROTECTED)].map((match) => ({
    kind: match[1] === undefined ? 'number' : 'verbatim',
    start: match.index,
    text: match[0],
  }));
}

/** Returns whether a character of a text is in a part that stays unchanged. */
export function isProtected(text: string, at: number): boolean {
  return findSpans(text).some((span) => at >= span.start && at < span.start + span.text.length);
}

/** Which parts have to be in a translation. */
interface Keeping {
  /** Language models may write numbers as the target language does. */
  readonly numbers: boolean;
}

/**
 * Returns the translation with all protected parts of its source, unchanged and as often as in the source; null if some
 * are missing. A number that was only written in another way (`1,000` as `1.000`) gets its form of the source.
 */
export function keepProtected(source: string, translated: string, { numbers }: Keeping): string | null {
  const spans = findSpans(source);
  const wanted = countTexts(spans.filter(({ kind }) => kind === 'verbatim'));
  for (const [text, times] of wanted) if (occurrences(translated, text) < times) return null;
  return numbers ? keepNumbers(spans, translated) : translated;
}

function keepNumbers(spans: readonly Span[], translated: string): string | null {
  const found = findSpans(translated).filter(({ kind }) => kind === 'number');
  const free = new Set(found);
  const forms = new Map<Span, string>();
  const take = (isMatch: (candidate: Span) => boolean): Span | undefined => {
    const match = found.find((candidate) => free.has(candidate) && isMatch(candidate));
    if (match !== undefined) free.delete(match);
    return match;
  };
  const numbers = spans.filter(({ kind }) => kind === 'number');
  const changed = numbers.filter(({ text }) => take((candidate) => candidate.text === text) === undefined);
  for (const { text } of changed) {
    const match = take((candidate) => digitsOf(candidate.text) === digitsOf(text));
    if (match === undefined) return null;
    forms.set(match, text);
  }
  return rebuild(translated, found, (span) => forms.get(span) ?? span.text);
}

function digitsOf(number: string): string {
  return number.replace(/\P{Nd}/gu, '');
}

/** Returns a text with its spans replaced. */
function rebuild(text: string, spans: readonly Span[], replacement: (span: Span) => string): string {
  let end = 0;
  let rebuilt = '';
  for (const span of spans) {
    rebuilt += text.slice(end, span.start) + replacement(span);
    end = span.start + span.text.length;
  }
  return rebuilt + text.slice(end);
}

function countTexts(spans: readonly Span[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of spans) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** A text whose protected parts are replaced by words that no dictionary has. */
interface HiddenText {
  readonly text: string;
  /** Returns a translation with the parts restored for the words. A word that was lost is not replaced. */
  restore(translated: string): string;
}

/** Hides addresses and placeholders from an engine that splits them. Numbers remain: they affect the grammar. */
export function hideProtected(text: string): HiddenText {
  const spans = findSpans(text).filter(({ kind }) => kind === 'verbatim');
  if (spans.length === 0) return { text, restore: (translated) => translated };
  const prefix = unusedPrefix(text);
  const words = new Map(spans.map((span, at) => [span, `${prefix}${lettersOf(at)}`]));
  const hidden = rebuild(text, spans, (span) => words.get(span) ?? span.text);
  return {
    text: hidden,
    restore: (translated) =>
      [...words].reduce((rest, [span, word]) => rest.replace(word, () => span.text), translated),
  };
}

/** Capitals that begin no word of the languages of Apertium. */
function unusedPrefix(text: string): string {
  let prefix = 'QJX';
  while (text.includes(prefix)) prefix += 'Q';
  return prefix;
}

/** `A` to `Y`, then `ZA` to `ZY`, and so on, so that no word is the start of another one. */
function lettersOf(at: number): string {
  return 'Z'.repeat(Math.floor(at / 25)) + String.fromCharCode(65 + (at % 25));
}

/** A text in pieces: those between the protected parts, to be translated by themselves. */
interface SplitText {
  /** Without spaces and marks at both ends. */
  readonly pieces: readonly string[];
  /** Returns the whole text with its pieces replaced, and everything else unchanged. */
  join(translated: readonly string[]): string;
}

const MARKS_BEFORE = /^[\s\p{P}\p{S}]+/u;
const MARKS_AFTER = /(?<![\s\p{P}\p{S}])[\s\p{P}\p{S}]+$/u;

/** Splits a text at its protected parts, so that no translation can change them. */
export function splitAtProtected(text: string): SplitText {
  const glue: string[] = [];
  const pieces: string[] = [];
  let rest = '';
  const add = (between: string) => {
    if (!hasWords(between)) {
      rest += between;
      return;
    }
    const words = between.replace(MARKS_BEFORE, '').replace(MARKS_AFTER, '');
    const before = between.indexOf(words);
    glue.push(rest + between.slice(0, before));
    pieces.push(words);
    rest = between.slice(before + words.length);
  };
  let end = 0;
  for (const span of findSpans(text)) {
    add(text.slice(end, span.start));
    rest += span.text;
    end = span.start + span.text.length;
  }
  add(text.slice(end));
  return {
    pieces,
    join: (translated) =>
      pieces.map((piece, at) => (glue[at] ?? '') + (translated[at] ?? piece)).join('') + rest,
  };
}
