/** Translates cues. Returns the same number of cues. */
import { JobFailure } from '../../protocol/job-failure.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Subtitle, Work } from '../engine.ts';
import { matchLanguage } from '../languages.ts';
import type { Programs } from '../programs.ts';
import { hasWords, stripMarkup, wrapText } from '../text.ts';
import { together } from '../together.ts';
import { BATCH_SIZE, runApertium, unknownShare } from './apertium.ts';
import { type Direction, listDirections } from './directions.ts';

interface Translation {
  readonly lines: readonly SubtitleLine[];
  /** BCP 47 tags. The source may be `auto`. */
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
}

/**
 * Translates each cue. Times and number of cues do not change.
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED if no engine supports the pair, or the language cannot be detected
 */
export async function translate(programs: Programs, task: Translation, work: Work): Promise<Subtitle> {
  const directions = await listDirections(programs, work);
  const source =
    task.sourceLanguage === 'auto'
      ? await detectLanguage(programs, task.lines, directions, work)
      : task.sourceLanguage;
  const mode = findDirection(directions, source, task.targetLanguage)?.mode;
  if (mode === undefined) throw noDirection(directions, source, task.targetLanguage);
  const cues = task.lines.map((line) => takeApart(line.text));
  const texts = cues.flatMap((cue) => cue.texts);
  const translated: string[] = [];
  for (let at = 0; at < texts.length; at += BATCH_SIZE) {
    const batch = texts.slice(at, at + BATCH_SIZE);
    translated.push(...(await runApertium({ ...work, programs, mode }, batch)));
    work.report(translated.length / texts.length);
  }
  let next = 0;
  const lines = task.lines.map((line, at) => {
    const cue = cues[at];
    if (cue === undefined) return line;
    const own = translated.slice(next, next + cue.texts.length);
    next += cue.texts.length;
    return { ...line, text: cue.restore(own) };
  });
  return { language: task.targetLanguage, lines };
}

/** Returns the direction that matches two tags best. Regional variants are preferred. */
export function findDirection<T extends { from: string; to: string }>(
  directions: readonly T[],
  source: string,
  target: string,
): T | undefined {
  const from = matchLanguage(source, [...new Set(directions.map((direction) => direction.from))]);
  const offered = directions.filter((direction) => direction.from === from);
  const to = matchLanguage(
    target,
    offered.map((direction) => direction.to),
  );
  return offered.find((direction) => direction.to === to);
}

function noDirection(directions: readonly Direction[], source: string, target: string): JobFailure {
  const offered = directions.map((direction) => `${direction.from} to ${direction.to}`).join(', ') || 'none';
  return new JobFailure(
    'LANGUAGE_NOT_SUPPORTED',
    `no engine translates ${source} to ${target}; there are: ${offered}`,
  );
}

/** A row that begins with a dash belongs to another speaker. */
const SPEAKER = /^\s*[-–—]\s*(?=\S)/;
/** Markup around a whole cue, as in `<i>…</i>` and `{\an8}…`. */
const OPENING = /^(?:\s*(?:<[a-z][^<>]{0,200}>|\{\\[^{}]{0,200}\}))+/i;
const CLOSING = /(?:<\/[a-z][^<>]{0,20}>\s*)+$/i;
const SENTENCE_END = /[.?!…]["'”»)]?$/u;

interface CueParts {
  /** Texts to translate, one per speaker, each on one row; empty if the cue has no words. */
  readonly texts: readonly string[];
  /** Returns the cue with its texts replaced. */
  restore(translated: readonly string[]): string;
}

/** Splits a cue into parts. Rows of one speaker are joined, because sentences span several rows. */
export function takeApart(text: string): CueParts {
  const opening = OPENING.exec(text)?.[0] ?? '';
  const closing = CLOSING.exec(text.slice(opening.length))?.[0] ?? '';
  const rows = stripMarkup(text).split('\n');
  const dialogue = rows.length > 1 && rows.every((row) => SPEAKER.test(row));
  const texts = dialogue ? rows.map((row) => row.replace(SPEAKER, '')) : [rows.join(' ')];
  if (!hasWords(texts.join(''))) return { texts: [], restore: () => text };
  return {
    texts,
    restore(translated) {
      const finished = translated.map((part, at) => likeSource(part, texts[at] ?? ''));
      const body = dialogue ? finished.map((part) => `- ${part}`).join('\n') : wrapText(finished.join(' '));
      return `${opening}${body}${closing}`;
    },
  };
}

/**
 * Apertium leaves a space before the full stop after an unknown word or a contraction. None of these languages uses
 * one.
 */
const SPACED_POINT = /\s+(?=[.,](?:\s|$))/g;

/** Capitalizes the start and ends the sentence as in the source. */
function likeSource(translated: string, source: string): string {
  const text = translated.replace(/\s+/g, ' ').replace(SPACED_POINT, '').trim();
  const capital = /^\P{L}*\p{Lu}/u.test(source);
  const cased = capital ? text.replace(/\p{L}/u, (letter) => letter.toUpperCase()) : text;
  const end = SENTENCE_END.exec(source)?.[0] ?? '';
  return end === '' || SENTENCE_END.test(cased) ? cased : cased + end;
}

/**
 * Number of sample lines, spread over the whole subtitle: enough for a reliable result, a third of a second per
 * language.
 */
const SAMPLE_LINES = 40;
const SAMPLE_CHARACTERS = 200;
/** Apertium's dictionaries know nine of ten words of their own language, except names. */
const MAX_UNKNOWN = 0.35;
/** The second-best language must know clearly fewer words: Catalan and Spanish share a third of their words. */
const MIN_LEAD = 0.15;

/**
 * Finds the language among those that can be translated from.
 * @returns the BCP 47 tag
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED if the language is uncertain
 */
async function detectLanguage(
  programs: Programs,
  lines: readonly SubtitleLine[],
  directions: readonly Direction[],
  run: { signal: AbortSignal; folder: string },
): Promise<string> {
  const texts = sample(lines);
  const tasks = [...modesBySource(directions)].map(([language, mode]) => async (signal: AbortSignal) => {
    const translated = await runApertium({ ...run, signal, programs, mode }, texts, true);
    return { language, unknown: unknownShare(translated) };
  });
  const scores = (await together(run.signal, tasks)).sort((a, b) => a.unknown - b.unknown);
  const [best, second] = scores;
  const lead = (second?.unknown ?? 1) - (best?.unknown ?? 1);
  if (best !== undefined && best.unknown <= MAX_UNKNOWN && lead >= MIN_LEAD) return best.language;
  const known = scores.map((score) => score.language).join(', ') || 'none';
  const message = `the language of the subtitles cannot be detected from their text; set it with --from (source_language). Languages that can be translated from: ${known}`;
  throw new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
}

function modesBySource(directions: readonly Direction[]): Map<string, string> {
  const modes = new Map<string, string>();
  for (const { from, mode } of directions) if (!modes.has(from)) modes.set(from, mode);
  return modes;
}

function sample(lines: readonly SubtitleLine[]): string[] {
  const step = Math.max(1, lines.length / SAMPLE_LINES);
  const texts: string[] = [];
  for (let at = 0; at < lines.length; at += step) {
    const text = stripMarkup(lines[Math.floor(at)]?.text ?? '').replaceAll('\n', ' ');
    // Names are unknown in every language.
    const words = text.split(' ').filter((word, position) => position === 0 || !/^\p{Lu}/u.test(word));
    if (words.length > 0) texts.push(words.join(' ').slice(0, SAMPLE_CHARACTERS).toLowerCase());
  }
  return texts.filter((text) => text.trim() !== '');
}
