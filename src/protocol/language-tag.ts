/** BCP 47 language tags. */
import { nearestName } from './nearest.ts';

/** RFC 5646, 4.4.1: long enough for every tag in use. A tag with many variants keeps Intl busy for minutes. */
const LONGEST_TAG = 35;

/** Returns the tag in canonical case (`pt-br` becomes `pt-BR`), or null if it is invalid. */
export function canonicalLanguage(tag: string): string | null {
  if (tag.length > LONGEST_TAG) return null;
  try {
    const [canonical] = Intl.getCanonicalLocales(REPLACED[tag.toLowerCase()] ?? tag.replace(EXTENDED, ''));
    return canonical ?? null;
  } catch {
    return null;
  }
}

/** Old tags that Intl refuses, in lower case, and the current ones. Source: IANA registry, "grandfathered". */
const REPLACED: Readonly<Record<string, string>> = {
  'en-gb-oed': 'en-GB-oxendict',
  'i-ami': 'ami',
  'i-bnn': 'bnn',
  'i-hak': 'hak',
  'i-klingon': 'tlh',
  'i-lux': 'lb',
  'i-navajo': 'nv',
  'i-pwn': 'pwn',
  'i-tao': 'tao',
  'i-tay': 'tay',
  'i-tsu': 'tsu',
  'no-bok': 'nb',
  'no-nyn': 'nn',
  'sgn-be-fr': 'sfb',
  'sgn-be-nl': 'vgt',
  'sgn-ch-de': 'sgg',
  'zh-min-nan': 'nan',
};

/**
 * Languages that a tag may name below their group, such as zh-yue; the current tag is that of the language alone. Other codes
 * there are often those of countries. Source: IANA registry, "extlang".
 */
const BELOW_GROUP = {
  ar: 'aao abh abv acm acq acw acx acy adf aeb aec afb ajp apc apd arb arq ars ary arz auz avl ayh ayl ayn ayp bbz pga shu ssh',
  kok: 'gom knn',
  lv: 'ltg lvs',
  ms: 'bjn btj bve bvu coa dup hji jak jax kvb kvr kxd lce lcf liw max meo mfa mfb min mqg msi mui orn ors pel pse tmw urk vkk vkt xmm zlm zmi zsm',
  // Sign languages, 164 of them.
  sgn: '[a-z]{3}',
  sw: 'swc swh',
  uz: 'uzn uzs',
  zh: 'cdo cjy cmn cnp cpx csp czh czo gan hak hnm hsn luh lzh mnp nan sjc wuu yue',
};
const EXTENDED = new RegExp(
  `^(?:${Object.entries(BELOW_GROUP)
    .map(([group, codes]) => `${group}-(?=(?:${codes.replaceAll(' ', '|')})(?:-|$))`)
    .join('|')})`,
  'i',
);

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

/** Valid tags that name no language, by how they begin. Source: RFC 5646, 2.2.1 and 2.2.8; IANA registry. */
const SPECIAL: readonly (readonly [RegExp, string])[] = [
  [/^(?:x-|q[a-t][a-z]\b)/i, 'a tag for private use'],
  [/^und\b/i, 'the tag for an undetermined language'],
  [/^mul\b/i, 'the tag for several languages'],
  [/^mis\b/i, 'the tag for languages without a code'],
  [/^zxx\b/i, 'the tag for content without a language'],
  [/^(?:i-(?:default|enochian|mingo)|zh-min)$/i, 'an old tag that no language has'],
];

/** The meaning of a valid tag that names no language, such as `und` and `x-ours`; null for other texts. */
export function describeSpecialTag(tag: string): string | null {
  return SPECIAL.find(([pattern]) => pattern.test(tag))?.[1] ?? null;
}

/** Whether a valid tag begins with a language that has an English name. */
export function isKnownLanguage(tag: string): boolean {
  return describeSpecialTag(tag) === null && englishName(baseLanguage(tag)) !== null;
}

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

/** All codes of two letters, and those of three whose languages have many speakers or much media. Source: CLDR, coverage. */
const SUGGESTED = [
  ...LETTERS.flatMap((first) => LETTERS.map((second) => first + second)),
  ...'fil yue ceb haw ckb mai kok ast gsw nds hmn chr'.split(' '),
];

/**
 * The tag that was probably meant by the name of a language, in English or in the language itself, by the code of a country,
 * or by a mistyped tag: `spanish`, `español` and `sp` return `es`, `jp` returns `ja`. Null if nothing is similar, and for what
 * is a tag itself: nearly all codes of three letters are languages, though few have a name here.
 */
export function nearestLanguage(text: string): string | null {
  const given = (text.split(/[-_]/, 1)[0] ?? '').toLowerCase();
  if (describeSpecialTag(text) !== null) return null;
  if (isKnownLanguage(given)) return canonicalLanguage(given);
  if (/^[a-z]{3}$/.test(given)) return null;
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
