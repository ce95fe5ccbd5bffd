/** Reads and writes TMX 1.4, the exchange format of translation memories. Pure. */
import { escapeUTF8 } from 'entities';
import sax from 'sax';
import { ANYWHERE, AUTO, type MemoryEntry, PERSON } from '../../batch/records/translation-memory.ts';
import { shortDigest } from '../../batch/short-digest.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { matchLanguage } from '../../protocol/languages.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { normalizeCueText } from '../../protocol/srt.ts';
import { isLongerThan } from '../../protocol/subtitle-line.ts';
import { VERSION } from '../context/version.ts';
import { createSegment, type Segment, writeSegment } from './segment.ts';

/** The tag of an unknown language. */
const UNKNOWN = 'und';
const PROPERTY = 'x-vloc-';
const PROPERTIES = ['origin', 'before', 'after', 'terms'] as const;

/** The document in parts, so that a large memory is never one string. */
export function* writeTmx(entries: readonly MemoryEntry[]): Generator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n';
  yield `<header creationtool="vloc" creationtoolversion="${escapeXml(VERSION)}" segtype="sentence" o-tmf="vloc" adminlang="en" srclang="*all*" datatype="plaintext"/>\n<body>\n`;
  for (const entry of entries) yield writeUnit(entry);
  yield '</body>\n</tmx>\n';
}

function writeUnit(entry: MemoryEntry): string {
  const from = entry.from === AUTO ? UNKNOWN : entry.from;
  const named = PROPERTIES.map((name) => [name, entry[name]] as const);
  const properties = [...named, ['digest', digestOf(entry.target)] as const].map(
    ([name, value]) => `<prop type="${PROPERTY}${name}">${escapeXml(value)}</prop>`,
  );
  const date = entry.at.replace(/[-:]|\.\d+/g, '');
  const variants = [
    [from, entry.source],
    [entry.to, entry.target],
  ] as const;
  return [
    `<tu srclang="${escapeXml(from)}" changedate="${escapeXml(date)}">`,
    ...properties,
    ...variants.map(([language, cues]) => {
      return `<tuv xml:lang="${escapeXml(language)}"><seg>${writeSegment(cues, escapeXml)}</seg></tuv>`;
    }),
    '</tu>\n',
  ].join('');
}

/** Shows whether another program has changed a translation. */
function digestOf(target: readonly string[]): string {
  return shortDigest(JSON.stringify(target));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot contain them
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

function escapeXml(text: string): string {
  return escapeUTF8(text.toWellFormed().replace(FORBIDDEN, ''));
}

export interface ReadTmx {
  readonly entries: readonly MemoryEntry[];
  /** Entries whose source has formatting, again for cues without it. */
  readonly plain: readonly MemoryEntry[];
  /** Units without two usable texts. */
  readonly skipped: number;
}

/** A file that is not TMX. The message says why, and is safe to show after escaping. */
export class TmxError extends Error {
  override readonly name = 'TmxError';
}

interface Variant {
  readonly language: string;
  readonly date: string | null;
  /** Null before it begins. */
  segment: Segment | null;
}

interface Unit {
  readonly sourceLanguage: string;
  readonly date: string | null;
  readonly properties: Map<string, string>;
  readonly variants: Variant[];
}

/** Elements of TMX are at most this deep, with room for markup in markup. */
const MOST_LEVELS = 50;
/** More variants of one text are not a memory, and each pair of them would become an entry. */
const MOST_VARIANTS = 200;

/**
 * Reads a document. Entities are not expanded, and nothing that it refers to is read. Units of other programs are translations
 * of a person that fit everywhere.
 * @param now RFC 3339, for units without a date
 * @throws TmxError
 */
export function readTmx(bytes: Uint8Array, now: string): ReadTmx {
  const entries: MemoryEntry[] = [];
  const plain: MemoryEntry[] = [];
  let skipped = 0;
  let all = ANY_LANGUAGE;
  let unit: Unit | null = null;
  let property: string | null = null;
  /** The open segment. */
  let segment: Segment | null = null;
  let isBegun = false;
  const open: string[] = [];
  const parser = sax.parser(true);
  parser.onerror = (error) => {
    throw new TmxError(error.message.replace(/\s+/g, ' '));
  };
  parser.onopentag = ({ name, attributes }) => {
    if (open.length === 0 && name !== 'tmx') throw new TmxError(`it begins with <${name}>, not with <tmx>`);
    isBegun = true;
    open.push(name);
    if (open.length > MOST_LEVELS) throw new TmxError(`more than ${MOST_LEVELS} elements inside each other`);
    const value = (key: string) => String(attributes[key] ?? '');
    const date = () => dateOf(value('changedate')) ?? dateOf(value('creationdate'));
    if (segment !== null) return segment.open(name, value);
    if (name === 'header') all = value('srclang') || all;
    if (name === 'tu')
      unit = {
        sourceLanguage: value('srclang') || all,
        date: date(),
        properties: new Map(),
        variants: [],
      };
    if (unit === null) return;
    if (name === 'prop' && unit.variants.length === 0) {
      property = value('type');
      unit.properties.set(property, '');
    }
    if (name === 'tuv')
      unit.variants.push({ language: value('xml:lang') || value('lang'), date: date(), segment: null });
    const variant = unit.variants.at(-1);
    if (name === 'seg' && variant !== undefined) {
      segment = createSegment();
      variant.segment = segment;
    }
  };
  parser.onclosetag = (name) => {
    open.pop();
    if (name === 'prop') property = null;
    if (name === 'seg') segment = null;
    if (segment !== null) segment.close();
    if (name !== 'tu' || unit === null) return;
    const found = entriesOf(unit, now);
    if (found.length === 0) skipped += 1;
    // One by one: a list of arguments has a limit.
    for (const each of found) {
      entries.push(each.entry);
      if (each.plain !== null) plain.push(each.plain);
    }
    unit = null;
  };
  const addText = (text: string) => {
    if (unit === null) return;
    if (property !== null) unit.properties.set(property, (unit.properties.get(property) ?? '') + text);
    segment?.addText(text);
  };
  parser.ontext = addText;
  parser.oncdata = addText;
  parser.write(decode(bytes)).close();
  if (!isBegun) throw new TmxError('it is empty');
  return { entries, plain, skipped };
}

/** TMX is UTF-8 or UTF-16. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new TmxError('it is neither UTF-8 nor UTF-16');
  }
}

/** Source: ISO 8601, of which TMX has the short form with a time in UTC. */
const DATE =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2}):?(\d{2})(?:[.,]\d{1,9})?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** `20261126T190300Z` as RFC 3339; null if it is another text. */
function dateOf(text: string): string | null {
  const [, year, month, day, hours = '00', minutes = '00', seconds = '00', zone = 'Z'] =
    DATE.exec(text) ?? [];
  const offset = zone.replace(/^(.\d{2})(\d{2})$/, '$1:$2');
  const ms = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}${offset}`);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/** The value of `srclang` where any variant may be the source. */
const ANY_LANGUAGE = '*all*';

/** Some programs write `en_US`. Null if it is not a tag. */
function readLanguage(language: string): string | null {
  return language === UNKNOWN ? AUTO : canonicalLanguage(language.replaceAll('_', '-'));
}

function isUsable(texts: readonly string[]): boolean {
  return texts.length > 0 && texts.every((text) => text !== '' && !isLongerThan(LIMITS.lineCharacters, text));
}

/** An entry for each pair of variants, and the same without formatting if its source has some. */
function entriesOf(
  { sourceLanguage, date, properties, variants }: Unit,
  now: string,
): { readonly entry: MemoryEntry; readonly plain: MemoryEntry | null }[] {
  const read = variants.slice(0, MOST_VARIANTS).flatMap((variant) => {
    const tag = readLanguage(variant.language);
    const cues = variant.segment?.cues() ?? [];
    const texts = cues.map(({ text }) => normalizeCueText(text));
    const plain = cues.map((cue) => normalizeCueText(cue.plain));
    return tag === null || !isUsable(texts) ? [] : [{ tag, texts, plain, date: variant.date }];
  });
  const wanted = readLanguage(sourceLanguage) ?? '';
  const isAny = sourceLanguage.toLowerCase() === ANY_LANGUAGE;
  const known = read.map(({ tag }) => tag);
  const from = known.includes(wanted) ? wanted : matchLanguage(wanted, known);
  const of = (name: (typeof PROPERTIES)[number] | 'digest') => properties.get(`${PROPERTY}${name}`);
  return read.flatMap((source, at) =>
    isAny || source.tag === from
      ? read.flatMap((target, other) => {
          const isPair = other !== at && target.tag !== source.tag && target.tag !== AUTO;
          if (!isPair || target.texts.length !== source.texts.length) return [];
          const isOwn = of('origin') !== undefined;
          const isChanged = of('digest') !== digestOf(target.texts);
          const written = target.date ?? source.date ?? date ?? now;
          const entry: MemoryEntry = {
            from: source.tag,
            to: target.tag,
            source: source.texts,
            target: target.texts,
            // A change by another program counts as a change by a person.
            origin: isOwn && !isChanged ? (of('origin') ?? PERSON) : PERSON,
            before: of('before') ?? ANYWHERE,
            after: of('after') ?? ANYWHERE,
            terms: of('terms') ?? '',
            // Not every program that changes an exported text changes its date.
            at: isOwn && isChanged ? now : written,
          };
          const isFormatted = source.texts.some((text, cue) => text !== source.plain[cue]);
          const hasPlain = isFormatted && !isOwn && isUsable(source.plain) && isUsable(target.plain);
          const plain = hasPlain ? { ...entry, source: source.plain, target: target.plain } : null;
          return [{ entry, plain }];
        })
      : [],
  );
}
