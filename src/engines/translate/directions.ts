/** Lists the translation directions of the installed Apertium. */
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import type { Programs } from '../programs.ts';

export interface Direction {
  /** Apertium's name of the direction, such as `eng-spa`. */
  readonly mode: string;
  /** BCP 47 tags. */
  readonly from: string;
  readonly to: string;
}

/** Asks Apertium for its directions. @throws ProgramMissing */
export async function listDirections(
  programs: Programs,
  run: { signal: AbortSignal; folder: string },
): Promise<Direction[]> {
  const stdout = await programs.run('apertium', ['-l'], run);
  return parseDirections(stdout.toString('utf8'));
}

/** Parses the list, one mode per line. Modes that are not a language pair are ignored. */
export function parseDirections(list: string): Direction[] {
  return list.split('\n').flatMap((line) => {
    const mode = line.trim();
    const [source, target, ...rest] = mode.split('-');
    const from = toLanguageTag(source ?? '');
    const to = toLanguageTag(target ?? '');
    return rest.length > 0 || from === null || to === null ? [] : [{ mode, from, to }];
  });
}

/**
 * Apertium uses ISO 639-3 with a variant after `_`: `eng_US`, `cat_valencia`. Returns null if it is not a valid BCP 47
 * tag.
 */
function toLanguageTag(code: string): string | null {
  return /^[a-z]{2,3}(_\w+)*$/.test(code) ? canonicalLanguage(code.replaceAll('_', '-')) : null;
}
