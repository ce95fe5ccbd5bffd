/** Styles: what a style guide asks of subtitles. Source of their JSON Schema, and of the limits of a file in its language. */
import * as v from 'valibot';
import { parseJson } from '../../base/json.ts';
import { baseLanguage, canonicalLanguage } from '../../protocol/language-tag.ts';
import { scriptOf } from '../../protocol/languages.ts';
import builtIn from './styles.json' with { type: 'json' };
import { spokenText } from './text.ts';
import { countColumns } from './wrap.ts';

export const STYLE_NAMES = ['netflix', 'netflix-children', 'netflix-sdh', 'bbc', 'ebu'] as const;
export type StyleName = (typeof STYLE_NAMES)[number];

/** Where the schema is published, for `$schema` in a style. */
export const STYLE_SCHEMA_ADDRESS = 'https://unpkg.com/vloc/docs/subtitle-style.schema.json';

/** A value of a file that may be missing. */
export const described = <const Schema extends v.GenericSchema>(schema: Schema, text: string) =>
  v.exactOptional(v.pipe(schema, v.description(text)));

/** @param least inclusive */
export const between = (least: number, most: number) =>
  v.pipe(
    v.number('must be a number'),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  );
const whole = (least: number, most: number) =>
  v.pipe(between(least, most), v.integer('must be a whole number'));

const byLanguage = (number: v.GenericSchema<number, number>) =>
  v.record(
    v.pipe(
      v.string(),
      v.regex(
        /^(default|[a-z]{2,3}(-[A-Za-z0-9]+)*|[A-Z][a-z]{3})$/,
        'must be a language (es, pt-BR), a script (Arab) or default',
      ),
    ),
    number,
    'must have a number for each language, such as {"default": 17, "en": 20}',
  );

const LANGUAGES = 'by language (es, pt-BR), script (Arab) or "default"';

/** A missing value is taken from `extends`; without it, it is not checked. */
export const StyleFile = v.strictObject(
  {
    $schema: v.optional(v.string('must be a string')),
    extends: described(
      v.picklist(STYLE_NAMES, `must be one of ${STYLE_NAMES.join(', ')}`),
      'A built-in style, of which this one changes some numbers.',
    ),
    characters_per_second: described(byLanguage(between(1, 100)), `Fastest reading speed, ${LANGUAGES}.`),
    characters_per_row: described(byLanguage(whole(1, 500)), `Longest row, ${LANGUAGES}.`),
    rows: described(whole(1, 20), 'Most rows of a cue.'),
    shortest_seconds: described(between(0, 60), 'Shortest time that a cue is shown.'),
    longest_seconds: described(between(0.1, 3600), 'Longest time that a cue is shown.'),
    frames_per_second: described(between(1, 240), 'Length of a frame without --video. Default: 25.'),
    gap_frames: described(whole(0, 240), 'Fewest frames between two cues.'),
    shot_change_frames: described(
      whole(1, 240),
      'A cue that begins or ends so close to a shot change begins with the new shot, or ends the gap before it.',
    ),
    sources: described(
      v.record(v.string(), v.string('must be a string')),
      'Guide and date of each number, such as {"rows": "House style, 2026-11-01"}.',
    ),
  },
  (issue) => `unknown field, or not an object: ${issue.received}`,
);
export type Style = v.InferOutput<typeof StyleFile>;

/** Returns a built-in style with all its numbers. */
export function builtInStyle(name: StyleName): Style {
  return completeStyle(v.parse(StyleFile, builtIn[name]));
}

/** Adds the numbers of the style that this one extends. */
function completeStyle(style: Style): Style {
  if (style.extends === undefined) return style;
  const base = builtInStyle(style.extends);
  return {
    ...base,
    ...style,
    characters_per_second: { ...base.characters_per_second, ...style.characters_per_second },
    characters_per_row: { ...base.characters_per_row, ...style.characters_per_row },
    sources: { ...base.sources, ...style.sources },
  };
}

/** Reads the text of a style. @returns why it cannot be used, if it cannot */
export function parseStyle(text: string): Style | string {
  const read = parseBySchema(StyleFile, text);
  return typeof read === 'string' ? read : completeStyle(read);
}

/** Reads a JSON text by a schema. @returns why it cannot be used, if it cannot */
export function parseBySchema<T extends object>(
  schema: v.GenericSchema<unknown, T>,
  text: string,
): T | string {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    return `it is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  // An array is an object without the fields.
  if (Array.isArray(value)) return 'it must be an object';
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = v.getDotPath(issue);
  return `${path === null ? '' : `${path} `}${issue.message}`;
}

/** The limits of a style for one file. Null: not checked. */
export interface SubtitleLimits {
  readonly charactersPerSecond: number | null;
  readonly charactersPerRow: number | null;
  readonly rows: number | null;
  readonly shortestMs: number | null;
  readonly longestMs: number | null;
  readonly frameMs: number;
  readonly gapFrames: number | null;
  readonly shotChangeFrames: number | null;
  /** Characters are as wide as in Chinese: all others count a half. */
  readonly isWide: boolean;
}

/** The frame rate of European television and most web video, where a style has none. */
const USUAL_RATE = 25;

/**
 * Returns the limits for a file.
 * @param language BCP 47 tag; null if unknown: then the script of the text decides, and for Latin letters the default
 * @param framesPerSecond of the video; null for the rate of the style
 */
export function chooseLimits(
  style: Style,
  language: string | null,
  text: string,
  framesPerSecond: number | null = null,
): SubtitleLimits {
  const tag = language ?? languageOfText(text);
  const script = tag === null ? null : scriptOf(tag);
  // The most exact key counts: the tag, the language, the script, the default.
  const keys = tag === null ? [] : [canonicalLanguage(tag) ?? tag, baseLanguage(tag), script ?? ''];
  const choose = (table: Readonly<Record<string, number>> = {}) => {
    const key = [...keys, 'default'].find((each) => Object.hasOwn(table, each));
    return key === undefined ? null : (table[key] ?? null);
  };
  const seconds = (value: number | undefined) => (value === undefined ? null : Math.round(value * 1000));
  return {
    charactersPerSecond: choose(style.characters_per_second),
    charactersPerRow: choose(style.characters_per_row),
    rows: style.rows ?? null,
    shortestMs: seconds(style.shortest_seconds),
    longestMs: seconds(style.longest_seconds),
    frameMs: 1000 / (framesPerSecond ?? style.frames_per_second ?? USUAL_RATE),
    gapFrames: style.gap_frames ?? null,
    shotChangeFrames: style.shot_change_frames ?? null,
    isWide: script !== null && WIDE_SCRIPTS.has(script),
  };
}

/** Only the limits that matter to a text that is spoken: it has no rows, and the voice fills the gaps. */
export function spokenLimits(language: string | null, text: string): SubtitleLimits {
  const limits = chooseLimits(builtInStyle('netflix'), language, text);
  return { ...limits, charactersPerRow: null, rows: null, gapFrames: null, shotChangeFrames: null };
}

const WIDE_SCRIPTS: ReadonlySet<string> = new Set([
  'Jpan',
  'Kore',
  'Hans',
  'Hant',
  'Hani',
  'Hira',
  'Kana',
  'Hang',
]);

/** Scripts by which a language is likely enough: most others are shared by many. */
const TELLING: readonly (readonly [language: string, letters: RegExp])[] = [
  ['ko', /\p{Script=Hangul}/gu],
  ['ar', /\p{Script=Arabic}/gu],
  ['hi', /\p{Script=Devanagari}/gu],
  ['th', /\p{Script=Thai}/gu],
];

/** Returns the likely language by the script of more than half of the letters; null for all other scripts. */
function languageOfText(text: string): string | null {
  const count = (letters: RegExp) => text.match(letters)?.length ?? 0;
  const half = count(/[\p{L}\p{M}]/gu) / 2;
  const kana = count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu);
  // Japanese has Chinese characters too.
  if (kana + count(/\p{Script=Han}/gu) > half) return kana > 0 ? 'ja' : 'zh';
  return TELLING.find(([, letters]) => count(letters) > half)?.[0] ?? null;
}

/** Counts characters as the guides do: marks do not count, and in Chinese, Japanese and Korean narrow ones count a half. */
export function countCharacters(text: string, { isWide }: Pick<SubtitleLimits, 'isWide'>): number {
  return countColumns(text) / (isWide ? 2 : 1);
}

/** Counts the characters that a voice speaks. @param language BCP 47 tag; null if unknown */
export function countSpoken(text: string, language: string | null): number {
  const isWide = WIDE_SCRIPTS.has(language === null ? '' : (scriptOf(language) ?? ''));
  return countCharacters(spokenText(text), { isWide });
}
