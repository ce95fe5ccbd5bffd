/** Matches a requested language with the languages of an engine, and finds its script. All languages are BCP 47 tags. */
import { baseLanguage, canonicalLanguage } from './language-tag.ts';

/** BCP 47 tags. */
export interface LanguagePair {
  readonly from: string;
  readonly to: string;
}

/** Regions with Latin American Spanish. Source: CLDR, parent locales of es-419. */
const LATIN_AMERICA = new Set('AR BO BR BZ CL CO CR CU DO EC GT HN MX NI PA PE PR PY SV US UY VE'.split(' '));

/**
 * Returns the best match for `wanted` in `available`, or null. In this order: the tag itself; its regional group (es-MX
 * to es-419); shorter and shorter prefixes (RFC 4647, lookup); the most common variety (en to en-US); any variety of
 * the language.
 */
export function matchLanguage(wanted: string, available: readonly string[]): string | null {
  const tag = canonicalLanguage(wanted);
  if (tag === null) return null;
  const find = (candidate: string) =>
    available.find((offered) => canonicalLanguage(offered)?.toLowerCase() === candidate.toLowerCase());
  for (const candidate of candidates(tag)) {
    const found = find(candidate);
    if (found !== undefined) return found;
  }
  return (
    available.find((offered) => baseLanguage(canonicalLanguage(offered) ?? '') === baseLanguage(tag)) ?? null
  );
}

function* candidates(tag: string): Generator<string> {
  yield tag;
  const { language, region } = new Intl.Locale(tag);
  if (language === 'es' && LATIN_AMERICA.has(region ?? '')) yield 'es-419';
  for (let end = tag.lastIndexOf('-'); end > 0; end = tag.lastIndexOf('-', end - 1)) yield tag.slice(0, end);
  const common = new Intl.Locale(tag).maximize();
  yield `${common.language}-${common.region}`;
}

/**
 * Returns the tags of `available` whose texts fit a request, the nearest first: the tag itself, wider ones, and for a request
 * without a region its regions, the most common one first. Texts of another region or script do not fit.
 */
export function nearLanguages(wanted: string, available: readonly string[]): string[] {
  const tag = canonicalLanguage(wanted);
  if (tag === null) return [];
  const wide = new Set(candidates(tag));
  let rest = available.filter(
    (offered) =>
      sameLanguage(offered, tag) &&
      scriptOf(offered) === scriptOf(tag) &&
      ([offered, tag].some((each) => withoutRegion(each) === each) || wide.has(offered)),
  );
  const near: string[] = [];
  for (let next = matchLanguage(tag, rest); next !== null; next = matchLanguage(tag, rest)) {
    const found = next;
    near.push(found);
    rest = rest.filter((offered) => offered !== found);
  }
  return near;
}

/** Returns a tag without its region and variants: `zh-Hant-TW` returns `zh-Hant`. */
export function withoutRegion(tag: string): string {
  const canonical = canonicalLanguage(tag);
  if (canonical === null) return tag;
  const { language, script } = new Intl.Locale(canonical);
  return script === undefined ? language : `${language}-${script}`;
}

/** Returns whether two tags are varieties of one language. */
export function sameLanguage(first: string, second: string): boolean {
  return (
    baseLanguage(canonicalLanguage(first) ?? first) === baseLanguage(canonicalLanguage(second) ?? second)
  );
}

/** Returns the pair of languages that matches two tags best. Regional varieties are preferred. */
export function findPair<T extends LanguagePair>(
  pairs: readonly T[],
  { from: source, to: target }: LanguagePair,
): T | undefined {
  const from = matchLanguage(source, [...new Set(pairs.map((pair) => pair.from))]);
  const offered = pairs.filter((pair) => pair.from === from);
  const to = matchLanguage(
    target,
    offered.map((pair) => pair.to),
  );
  return offered.find((pair) => pair.to === to);
}

/** Returns the script that a language is written in, an ISO 15924 code; null if it is not known. */
export function scriptOf(language: string): string | null {
  const tag = canonicalLanguage(language);
  return tag === null ? null : (new Intl.Locale(tag).maximize().script ?? null);
}
