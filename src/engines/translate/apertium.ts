/** Runs Apertium over a list of texts. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Programs } from '../programs.ts';

/** Bounds what is lost on a cancel and lets progress be seen; a run takes a quarter of a second to start. */
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
 * Translates texts independently of each other; none may hold a blank line. As many come back, in the same order.
 * @param keepMarks leaves the marks of unknown words in, for measuring
 */
export async function runApertium(
  run: ApertiumRun,
  texts: readonly string[],
  keepMarks = false,
): Promise<string[]> {
  if (texts.length === 0) return [];
  // A file, since Apertium reopens /dev/stdin, which fails on a socket: empty output and exit code 0.
  const file = join(run.folder, `${run.mode}.txt`);
  // A blank line ends a sentence for it and comes back as it is.
  await writeFile(file, `${texts.join('\n\n')}\n`);
  const stdout = await run.programs.run('apertium', [...(keepMarks ? [] : ['-u']), run.mode, file], run);
  const parts = stdout
    .toString('utf8')
    .replace(/\n+$/, '')
    .split(/\n{2,}/);
  if (parts.length !== texts.length) return splitAndRepeat(run, texts, parts, keepMarks);
  return parts.map((part, at) => (keepMarks ? part : removeMarks(part, texts[at] ?? '')));
}

/** Should a text swallow its neighbour, halves are tried again until the odd one stands alone. */
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

/** Drops the marks, but keeps characters that the source has too, as in `#1` or `@home`. */
function removeMarks(translated: string, source: string): string {
  return translated.replace(MARK, (match, before: string, mark: string) =>
    source.includes(mark) ? match : before,
  );
}

/** Share of the words that Apertium does not know, 0 to 1, in a translation with marks; 1 when there are no words. */
export function unknownShare(translated: readonly string[]): number {
  const text = translated.join(' ');
  const words = text.match(/\p{L}+/gu)?.length ?? 0;
  const unknown = text.match(/(?:^|[^\p{L}\p{N}])\*(?=\p{L})/gu)?.length ?? 0;
  return words === 0 ? 1 : Math.min(1, unknown / words);
}
