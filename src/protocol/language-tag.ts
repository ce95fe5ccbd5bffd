/** BCP 47 language tags. */
import { nearestName } from './nearest.ts';

/** RFC 5646, 4.4.1: long enough for every tag in use. A tag with many variants keeps Intl busy for minutes. */
const LONGEST_TAG = 35;

/** Returns the tag in canonical case (`pt-br` becomes `pt-BR`), or null if it is invalid. */
export function canonicalLanguage(tag: string): string | null {
  if (tag.length > LONGEST_TAG) return null;
  try {
    const [canonical] = Intl.getCanonicalLocales(tag);
    return canonical ?? null;
  } catch {
    return null;
  }
}

/** Returns the language without script and region: `pt-BR` returns `pt`. */
export function baseLanguage(tag: string): string {
  return tag.split('-', 1)[0]?.toLowerCase() ?? tag;
}

/** Returns the English name of a language for messages: `es` returns `Spanish`. Returns the tag if there is no name. */
export function languageName(tag: string): string {
  try {
    return new Intl.DisplayNames(['en'], { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** Codes that a service may define itself. Source: RFC 5646, 2.2.1. */
const PRIVATE_USE = /^q[a-t][a-z]$/;

/** Whether a valid tag begins with a language that has an English name, or with a code for private use. */
export function isKnownLanguage(tag: string): boolean {
  const base = baseLanguage(tag);
  return PRIVATE_USE.test(base) || englishName(base) !== null;
}

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

/** All codes of two letters, and those of three whose languages have many speakers or much media. Source: CLDR, coverage. */
const SUGGESTED = [
  ...LETTERS.flatMap((first) => LETTERS.map((second) => first + second)),
  ...'fil yue ceb haw ckb mai kok ast gsw nds hmn chr'.split(' '),
];

/**
 * The tag that was probably meant by the name of a language, in English or in the language itself, by the code of a country,
 * or by a mistyped tag: `spanish`, `español` and `sp` return `es`, `jp` returns `ja`. Null if nothing is similar.
 */
export function nearestLanguage(text: string): string | null {
  const given = (text.split(/[-_]/, 1)[0] ?? '').toLowerCase();
  const tags = suggestedTags();
  const exact = tags.get(given) ?? languageOfCountry(given) ?? findByPrefix(given, tags);
  if (exact !== null) return exact;
  const own = [...tags.values()].find(
    (tag) => new Intl.DisplayNames([tag], { type: 'language' }).of(tag)?.toLowerCase() === given,
  );
  const name = own === undefined ? nearestName(given, [...tags.keys()]) : null;
  return own ?? (name === null ? nearestName(given, [...tags.values()]) : (tags.get(name) ?? null));
}

/** Tags by their English names in lower case. */
function suggestedTags(): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  for (const code of SUGGESTED) {
    const name = canonicalLanguage(code) === code ? englishName(code)?.toLowerCase() : undefined;
    if (name !== undefined && !tags.has(name)) tags.set(name, code);
  }
  return tags;
}

/** Two letters are enough, since more would rarely be a name cut short. */
function findByPrefix(given: string, names: ReadonlyMap<string, string>): string | null {
  const found = [...names].find(([name]) => given.length >= 2 && name.startsWith(given));
  return found?.[1] ?? null;
}

function languageOfCountry(given: string): string | null {
  if (!/^[a-z]{2}$/.test(given)) return null;
  const region = given.toUpperCase();
  const regions = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  // Codes without a country have no language either, and some have names such as "Pseudo-Accents".
  if (regions.of(region) === undefined || /^(x[a-z]|zz)$/.test(given)) return null;
  return new Intl.Locale(`und-${region}`).maximize().language ?? null;
}

function englishName(code: string): string | null {
  try {
    names ??= new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
    return names.of(code) ?? null;
  } catch {
    return null;
  }
}

let names: Intl.DisplayNames | undefined;
