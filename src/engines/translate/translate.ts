/** Translation as the pipelines see it: cues in, as many cues out. */
import { JobFailure } from '../../protocol/job-failure.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Subtitle, Work } from '../engine.ts';
import { matchLanguage } from '../languages.ts';
import type { Programs } from '../programs.ts';
import { BATCH_SIZE, runApertium } from './apertium.ts';
import { takeApart } from './cue-text.ts';
import { detectLanguage } from './detect-language.ts';
import { type Direction, listDirections } from './directions.ts';

export interface Translation {
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
