/** Which language subtitles are in: the one whose dictionary knows their words. */
import { JobFailure } from '../../protocol/job-failure.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Programs } from '../programs.ts';
import { stripMarkup } from '../text/markup.ts';
import { together } from '../together.ts';
import { runApertium, unknownShare } from './apertium.ts';
import type { Direction } from './directions.ts';

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
export async function detectLanguage(
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
