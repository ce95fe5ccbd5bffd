/** Language tags of BCP 47. */

/** RFC 5646, 4.4.1: room for every tag in use. A tag of many variants keeps Intl busy for minutes. */
const LONGEST_TAG = 35;

/** The tag in canonical case (`pt-br` becomes `pt-BR`), or null when it is not one. */
export function canonicalLanguage(tag: string): string | null {
  if (tag.length > LONGEST_TAG) return null;
  try {
    const [canonical] = Intl.getCanonicalLocales(tag);
    return canonical ?? null;
  } catch {
    return null;
  }
}

/** The language alone, without script and region: `pt-BR` gives `pt`. */
export function baseLanguage(tag: string): string {
  return tag.split('-', 1)[0]?.toLowerCase() ?? tag;
}

/** The English name of a language for messages: `es` gives `Spanish`; the tag itself when there is none. */
export function languageName(tag: string): string {
  try {
    return new Intl.DisplayNames(['en'], { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
