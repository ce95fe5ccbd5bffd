/** BCP 47 language tags. */

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
