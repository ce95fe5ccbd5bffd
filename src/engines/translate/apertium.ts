/** Runs Apertium over a list of texts. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Programs } from '../programs.ts';

/**
 * Limits the work that is lost on a cancel and the time between progress reports. A run takes a quarter of a second to
 * start.
 */
export const BATCH_SIZE = 500;

/** Marks before words that it could not translate (`*`), inflect (`#`) or find in its dictionary (`@`). */
const MARK = /(^|[\s¿¡"'«“(-])([*@#])(?=\p{L})/gu;

interface ApertiumRun {
  readonly programs: Programs;
  readonly mode: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Translates texts independently of each other. No text may contain a blank line. Returns the same number of texts, in
 * the same order.
 * @param keepMarks keeps the marks of unknown words, for measuring
 */
export async function runApertium(
  run: ApertiumRun,
  texts: readonly string[],
  keepMarks = false,
): Promise<string[]> {
  if (texts.length === 0) return [];
  // A file, because Apertium reopens /dev/stdin, which fails on a socket with empty output and exit code 0.
  const file = join(run.folder, `${run.mode}.txt`);
  // A blank line ends a sentence for Apertium and is returned unchanged.
  await writeFile(file, `${texts.join('\n\n')}\n`);
  const stdout = await run.programs.run('apertium', [...(keepMarks ? [] : ['-u']), run.mode, file], run);
  const parts = stdout
    .toString('utf8')
    .replace(/\n+$/, '')
    .split(/\n{2,}/);
  if (parts.length !== texts.length) return splitAndRepeat(run, texts, parts, keepMarks);
  return parts.map((part, at) => (keepMarks ? part : removeMarks(part, texts[at] ?? '')));
}

/** If a text was merged with the next one, each half is tried again, until the text in question is alone. */
async function splitAndRepeat(
  run: ApertiumRun,
  texts: readonly string[],
  parts: readonly string[],
  keepMarks: boolean,
): Promise<string[]> {
  if (texts.length === 1) return [parts.join('\n')];
  const middle = Math.ceil(texts.length / 2);
  const first = await runApertium(run, texts.slice(0, middle), keepMarks);
  return [...first, ...(await runApertium(run, texts.slice(middle), keepMarks))];
}

/** Removes the marks, but keeps characters that the source also contains, as in `#1` or `@home`. */
function removeMarks(translated: string, source: string): string {
  return translated.replace(MARK, (match, before: string, mark: string) =>
    source.includes(mark) ? match : before,
  );
}

/**
 * Returns the share of words that Apertium does not know, 0 to 1, in a translation with marks; 1 if there are no words.
 */
export function unknownShare(translated: readonly string[]): number {
  const text = translated.join(' ');
  const words = text.match(/\p{L}+/gu)?.length ?? 0;
  const unknown = text.match(/(?:^|[^\p{L}\p{N}])\*(?=\p{L})/gu)?.length ?? 0;
  return words === 0 ? 1 : Math.min(1, unknown / words);
}
