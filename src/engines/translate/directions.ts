/** The directions that the installed Apertium translates in. */
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import type { Programs } from '../programs.ts';

export interface Direction {
  /** Apertium's own name for it, such as `eng-spa`. */
  readonly mode: string;
  /** BCP 47 tags. */
  readonly from: string;
  readonly to: string;
}

/** Asks Apertium what it can do. @throws ProgramMissing */
export async function listDirections(
  programs: Programs,
  run: { signal: AbortSignal; folder: string },
): Promise<Direction[]> {
  const stdout = await programs.run('apertium', ['-l'], run);
  return parseDirections(stdout.toString('utf8'));
}

/** Reads the list, one mode a line; modes that are not a pair of languages are ignored. */
export function parseDirections(list: string): Direction[] {
  return list.split('\n').flatMap((line) => {
    const mode = line.trim();
    const [source, target, ...rest] = mode.split('-');
    const from = toLanguageTag(source ?? '');
    const to = toLanguageTag(target ?? '');
    return rest.length > 0 || from === null || to === null ? [] : [{ mode, from, to }];
  });
}

/** Apertium writes ISO 639-3 and a variant behind `_`: `eng_US`, `cat_valencia`. Null for what is no tag in BCP 47. */
function toLanguageTag(code: string): string | null {
  return /^[a-z]{2,3}(_\w+)*$/.test(code) ? canonicalLanguage(code.replaceAll('_', '-')) : null;
}
