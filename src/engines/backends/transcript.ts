/** Converts answers of recognizers, SRT or the `verbose_json` of OpenAI's interface, to words with times. */
import * as v from 'valibot';
import { parseJson } from '../../base/json.ts';
import type { Segment } from '../../media/audio/segments.ts';
import { stripMarkup } from '../../media/subtitles/text.ts';
import { baseLanguage, canonicalLanguage } from '../../protocol/language-tag.ts';
import { formatTime, parseSrt } from '../../protocol/srt.ts';
import type { Word } from '../backend.ts';

/** A text and its time in seconds from the start of the sound. */
export interface TimedText extends Segment {
  readonly text: string;
}

/** A phrase. Its words are empty if the recognizer did not time each. */
export interface Phrase extends TimedText {
  readonly words: readonly TimedText[];
}

export interface Transcript {
  /** BCP 47 tag of the language that the recognizer detected; null if it named none. */
  readonly language: string | null;
  readonly phrases: readonly Phrase[];
  /** Words that belong to no phrase; empty if the phrases have their own, or if none was timed. */
  readonly words: readonly TimedText[];
}

const Seconds = v.nullish(v.number());
/** whisper-timestamped calls the word `text`. */
const TimedWord = v.object({
  word: v.nullish(v.string()),
  text: v.nullish(v.string()),
  start: Seconds,
  end: Seconds,
});
const VerboseJson = v.object({
  language: v.nullish(v.string()),
  text: v.nullish(v.string()),
  words: v.nullish(v.array(TimedWord)),
  segments: v.nullish(
    v.array(
      v.object({
        text: v.string(),
        start: v.number(),
        end: v.number(),
        words: v.nullish(v.array(TimedWord)),
      }),
    ),
  ),
});

/**
 * Parses `verbose_json`. Words are at the top level (OpenAI), in the segments (whisper.cpp, as tokens with a leading
 * space; WhisperX), or missing.
 * @throws Error that completes a sentence such as "The server answered with …"
 */
export function parseVerboseJson(text: string): Transcript {
  const parsed = v.safeParse(VerboseJson, parseOutput(text));
  if (!parsed.success) throw new Error(`JSON that is not verbose_json (${v.getDotPath(parsed.issues[0])})`);
  const { output } = parsed;
  if (output.text == null && output.segments == null && output.words == null) {
    throw new Error('JSON that is not verbose_json (it has neither text nor segments)');
  }
  const words = wholeWords(output.words ?? []);
  const phrases: Phrase[] = (output.segments ?? []).map((segment) => ({
    ...segment,
    words: wholeWords(segment.words ?? []),
  }));
  if (phrases.length === 0 && words.length === 0) {
    phrases.push({ text: output.text ?? '', start: 0, end: Number.POSITIVE_INFINITY, words: [] });
  }
  return {
    language: languageTag(output.language ?? ''),
    phrases,
    words,
  };
}

/** Programs in Python write numbers that JSON does not have, such as `"avg_logprob": NaN`. */
const NO_NUMBER = /:\s*(NaN|-?Infinity)(?=\s*[,}])/g;

function parseOutput(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    try {
      return parseJson(text.replaceAll(NO_NUMBER, ': null'));
    } catch {
      throw new Error('text that is not JSON');
    }
  }
}

/** Parses SRT. Its cues are phrases. @throws SubtitleError */
export function parseSrtTranscript(text: string): Transcript {
  // Some tools write cues that last no time. They get a millisecond, because strict SRT has none.
  const lasting = text.replaceAll(
    /^\s*(\d+:\d\d:\d\d[,.]\d{3}) --> \1[ \t]*$/gm,
    (_, time: string) => `${time} --> ${formatTime(toMs(time) + 1)}`,
  );
  const phrases = parseSrt(lasting).map((cue) => ({
    text: stripMarkup(cue.text),
    start: cue.start_ms / 1000,
    end: cue.end_ms / 1000,
    words: [],
  }));
  return { language: null, phrases, words: [] };
}

function toMs(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0, ms = 0] = time.split(/[:,.]/).map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
}

/** Scripts without spaces between words. */
const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Marks of whisper's timestamps and segments: `<|0.00|>`, `[_BEG_]`, `[_TT_550]`. */
const CONTROL_TOKEN = /^\s*(<\|.*\|>|\[_[A-Z]+_(\d+\])?\]?)\s*$/;

/**
 * Joins tokens to words. Where words begin with a space, a token without one continues its word. A token without a letter
 * or digit never begins a word. Returns no words if a time is missing.
 */
function wholeWords(tokens: readonly v.InferOutput<typeof TimedWord>[]): TimedText[] {
  const isSpaced = tokens.some((token) => /^\s/.test(token.word ?? token.text ?? ''));
  const words: TimedText[] = [];
  for (const { start, end, ...token } of tokens) {
    const word = token.word ?? token.text ?? '';
    const text = word.trim();
    if (text === '' || CONTROL_TOKEN.test(word)) continue;
    if (start == null || end == null) return [];
    const last = words.at(-1);
    if (last !== undefined && continues(last.text, word, isSpaced)) {
      words[words.length - 1] = { text: last.text + text, start: last.start, end: Math.max(last.end, end) };
    } else {
      words.push({ text, start, end });
    }
  }
  return words;
}

function continues(before: string, token: string, isSpaced: boolean): boolean {
  // A mark such as ¿ or an opening quote begins a word, so a word follows it directly.
  if (/^[\p{Ps}\p{Pi}¿¡]+$/u.test(before)) return true;
  if (/^\s*[^\p{L}\p{N}\s\p{Ps}\p{Pi}¿¡]+$/u.test(token)) return true;
  if (!isSpaced || /^\s/.test(token)) return false;
  return !(SPACELESS.test(before.at(-1) ?? '') || SPACELESS.test(token.charAt(0)));
}

/** Names by which recognizers call languages, where they differ from those of CLDR. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  jw: 'jv',
  myanmar: 'my',
  nynorsk: 'nn',
  tagalog: 'tl',
  castilian: 'es',
  flemish: 'nl',
  mandarin: 'zh',
};

let tagOfName: Map<string, string> | undefined;

/** Returns the BCP 47 tag of a language that is named by a tag or in English (`spanish`), or null. */
export function languageTag(said: string): string | null {
  const name = plain(said);
  const other = OTHER_NAMES[name];
  if (other !== undefined) return other;
  if (/^[a-z]{2,3}([-_]|$)/.test(name)) return canonicalLanguage(said.trim().replaceAll('_', '-'));
  tagOfName ??= namedLanguages();
  return tagOfName.get(name) ?? null;
}

function plain(name: string): string {
  return name.trim().normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** All languages with two letters, and the two of whisper with three. */
function namedLanguages(): Map<string, string> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
  const tags = ['haw', 'yue', ...letters.flatMap((first) => letters.map((second) => first + second))];
  return new Map(
    tags.flatMap((tag) => {
      const name = names.of(tag);
      return name === undefined ? [] : [[plain(name), tag] as const];
    }),
  );
}

/** Text of recognizers for sound without words: `[BLANK_AUDIO]`, `(applause)`, `♪`. */
const ANNOTATION = /^(\[[^\]]*\]|\([^)]*\)|[♪♫\s]+)$/;
/** A word that begins or ends at the end of the sound lasts at least this long, in seconds. */
const LEAST = 0.01;

/**
 * Returns the words in order of time, within the sound. Words that were not timed share the time of their phrase
 * according to their length, without the pauses in it. Text that only describes a sound is dropped.
 * @param task the times of speech, and the length of the sound in seconds
 */
export function wordsOf(
  transcript: Transcript,
  task: { readonly segments: readonly Segment[]; readonly seconds: number },
): Word[] {
  const { seconds, segments } = task;
  const isNoise = ({ text }: TimedText) => ANNOTATION.test(text.trim());
  const noise = transcript.phrases.filter(isNoise);
  const isWithin = (word: TimedText) => (phrase: Segment) => {
    const middle = (word.start + word.end) / 2;
    return middle >= phrase.start && middle <= phrase.end;
  };
  const timed =
    transcript.words.length > 0
      ? transcript.words.filter((word) => !isNoise(word) && !noise.some(isWithin(word)))
      : transcript.phrases
          .filter((phrase) => !isNoise(phrase) && phrase.start < seconds)
          .flatMap((phrase) => phraseWords(phrase, task));
  return timed
    .filter((word) => word.start < seconds && Number.isFinite(word.start + word.end))
    .map((word) => {
      const start = Math.max(0, Math.min(word.start, seconds - LEAST));
      const end = Math.min(seconds, Math.max(word.end, start + LEAST));
      return { text: word.text, start, end, segment: nearestSegment((start + end) / 2, segments) };
    })
    .sort((a, b) => a.start - b.start);
}

/** whisper times a last phrase up to the end of its window, beyond the sound: its words then move into the sound. */
function phraseWords(
  phrase: Phrase,
  { segments, seconds }: { segments: readonly Segment[]; seconds: number },
): TimedText[] {
  const end = Math.min(seconds, Math.max(phrase.end, phrase.start + LEAST));
  const { words } = phrase;
  if (words.length === 0) return spreadWords({ ...phrase, end }, segments);
  const last = Math.max(...words.map((word) => word.end));
  if (words.every((word) => word.start < seconds) || last <= phrase.start) return [...words];
  const factor = (end - phrase.start) / (last - phrase.start);
  const moved = (time: number) => phrase.start + Math.max(0, time - phrase.start) * factor;
  return words.map((word) => ({ text: word.text, start: moved(word.start), end: moved(word.end) }));
}

/** Splits a text into words, and shares its time according to their length. Pauses in its time get no words. */
export function spreadWords(phrase: TimedText, speech: readonly Segment[]): TimedText[] {
  const words = splitWords(phrase.text);
  const ranges = speechWithin(phrase, speech);
  const lengths = words.map((word) => [...word].length);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const seconds = rangesSeconds(ranges);
  let before = 0;
  return words.map((text, at) => {
    const after = before + (lengths[at] ?? 0);
    const start = timeAt(ranges, (before / total) * seconds, false);
    const end = timeAt(ranges, (after / total) * seconds, true);
    before = after;
    return { text, start, end };
  });
}

/** Less speech than this share of a phrase means that detection missed some, so that all its time is used. */
const TRUSTED_SHARE = 0.5;

function speechWithin({ start, end }: Segment, speech: readonly Segment[]): readonly Segment[] {
  const ranges = speech
    .map((range) => ({ start: Math.max(start, range.start), end: Math.min(end, range.end) }))
    .filter((range) => range.end > range.start);
  return rangesSeconds(ranges) >= (end - start) * TRUSTED_SHARE ? ranges : [{ start, end }];
}

function rangesSeconds(ranges: readonly Segment[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** The time after so many seconds of the ranges; between two of them, the end of the first or the start of the next. */
function timeAt(ranges: readonly Segment[], seconds: number, isEnd: boolean): number {
  let rest = seconds;
  for (const [at, { start, end }] of ranges.entries()) {
    const length = end - start;
    // Sums of fractions are not exact.
    const isHere = isEnd ? rest <= length + 1e-9 : rest < length - 1e-9;
    if (isHere || at === ranges.length - 1) return start + Math.min(rest, length);
    rest -= length;
  }
  return 0;
}

/** Splits a text at spaces, and where a script has none, between words. */
export function splitWords(text: string): string[] {
  return text
    .split(/\s+/)
    .filter((word) => word !== '')
    .flatMap((word) => (SPACELESS.test(word) ? splitSpaceless(word) : [word]));
}

function splitSpaceless(text: string): string[] {
  const parts: string[] = [];
  for (const { segment, isWordLike } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(
    text,
  )) {
    if (isWordLike !== true && parts.length > 0) parts.push(`${parts.pop()}${segment}`);
    else parts.push(segment);
  }
  return parts;
}

/** Returns whether a recognizer writes marks that end sentences. Such recognizers also write capitals. */
export function isPunctuated(words: readonly TimedText[]): boolean {
  return words.some(({ text }) => /[.?!…。？！؟।]/u.test(text));
}

function nearestSegment(time: number, segments: readonly Segment[]): number {
  let best = { segment: 0, distance: Number.POSITIVE_INFINITY };
  for (const [segment, { start, end }] of segments.entries()) {
    const distance = Math.max(start - time, time - end, 0);
    if (distance < best.distance) best = { segment, distance };
  }
  return best.segment;
}

/** Source: the table LANGUAGES in `tokenizer.py` of Whisper, large-v3, as BCP 47 tags. The last is new in large-v3. */
export const WHISPER_LANGUAGES: readonly string[] = (
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml ' +
  'cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am ' +
  'yi lo uz fo ht ps tk nn mt sa lb my bo fil mg as tt haw ln ha ba jv su yue'
).split(' ');

/** Where whisper's code is not the language of the tag. */
const CODES: Readonly<Record<string, string>> = { nb: 'no', fil: 'tl', jv: 'jw', cmn: 'zh' };

/** Returns whisper's code of a BCP 47 tag. */
export function whisperCode(tag: string): string {
  const language = baseLanguage(tag);
  return CODES[language] ?? language;
}
