/** Translation as the pipelines see it: cues in, as many cues out. */
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
  /** BCP 47 tags; the source may be `auto`. */
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
}

/**
 * Translates each cue; times and count stay.
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED for a pair that there is no engine for, or a language that cannot be told
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

/** The direction that serves two tags best, by their regional variants first. */
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

/** A row that begins with a dash is another speaker's. */
const SPEAKER = /^\s*[-–—]\s*(?=\S)/;
/** Markup around a whole cue, as in `<i>…</i>` and `{\an8}…`. */
const OPENING = /^(?:\s*(?:<[a-z][^<>]{0,200}>|\{\\[^{}]{0,200}\}))+/i;
const CLOSING = /(?:<\/[a-z][^<>]{0,20}>\s*)+$/i;
const SENTENCE_END = /[.?!…]["'”»)]?$/u;

interface CueParts {
  /** Texts to translate, one a speaker, each on one row; empty when there are no words in the cue. */
  readonly texts: readonly string[];
  /** The cue with other texts in their places. */
  restore(translated: readonly string[]): string;
}

/** Takes a cue apart. Rows of one speaker are joined, since sentences run over them. */
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

/** An unknown word or a contraction leaves a space before the point; no language here is written so. */
const SPACED_POINT = /\s+(?=[.,](?:\s|$))/g;

/** Begins with a capital and ends a sentence where the source does. */
function likeSource(translated: string, source: string): string {
  const text = translated.replace(/\s+/g, ' ').replace(SPACED_POINT, '').trim();
  const capital = /^\P{L}*\p{Lu}/u.test(source);
  const cased = capital ? text.replace(/\p{L}/u, (letter) => letter.toUpperCase()) : text;
  const end = SENTENCE_END.exec(source)?.[0] ?? '';
  return end === '' || SENTENCE_END.test(cased) ? cased : cased + end;
}

/** Lines that are looked at, spread over the whole: enough to be sure, a third of a second for each language. */
const SAMPLE_LINES = 40;
const SAMPLE_CHARACTERS = 200;
/** Apertium's dictionaries know nine words in ten of their own language, names apart. */
const MAX_UNKNOWN = 0.35;
/** The runner-up must know clearly fewer: Catalan and Spanish share a third of their words. */
const MIN_LEAD = 0.15;

/**
 * Finds the language among those that can be translated from.
 * @returns the tag of BCP 47
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED when it cannot be told, rather than guess
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
