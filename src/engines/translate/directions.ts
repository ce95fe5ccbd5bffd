/** Lists the translation directions of the installed Apertium: its pairs, and two pairs through a language in between. */

import type { Programs } from '../../media/programs/programs.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { sameLanguage } from '../../protocol/languages.ts';

export interface Direction {
  /** Apertium's names of the steps, such as `eng-spa`; two if there is a language in between. */
  readonly modes: readonly string[];
  /** BCP 47 tags. */
  readonly from: string;
  readonly to: string;
  /** The language in between. */
  readonly through?: string;
}

/** Asks Apertium for its directions. @throws ProgramMissing */
export async function listDirections(
  programs: Programs,
  run: { signal: AbortSignal; folder: string },
): Promise<Direction[]> {
  const stdout = await programs.run('apertium', ['-l'], run);
  return addRoutes(parseDirections(stdout.toString('utf8')));
}

/** Parses the list, one mode per line. Modes that are not a language pair are ignored. */
export function parseDirections(list: string): Direction[] {
  return list.split('\n').flatMap((line) => {
    const mode = line.trim();
    const [source, target, ...rest] = mode.split('-');
    const from = toLanguageTag(source ?? '');
    const to = toLanguageTag(target ?? '');
    return rest.length > 0 || from === null || to === null ? [] : [{ modes: [mode], from, to }];
  });
}

/** Languages in between, the preferred one first: Apertium translates from and to these best and most. */
export const BETWEEN = ['es', 'ca'] as const;

/** Adds directions that lead through one language in between, where no pair does without. */
export function addRoutes(pairs: readonly Direction[]): Direction[] {
  const all = [...pairs];
  for (const through of BETWEEN) {
    const into = pairs.filter(({ to }) => to === through);
    const out = pairs.filter(({ from }) => from === through);
    for (const first of into) {
      for (const second of out) {
        const { from } = first;
        const { to } = second;
        const isDirect = pairs.some((pair) => sameLanguage(pair.from, from) && sameLanguage(pair.to, to));
        const isKnown = all.some((route) => route.from === from && route.to === to);
        if (sameLanguage(from, to) || isDirect || isKnown) continue;
        all.push({ modes: [...first.modes, ...second.modes], from, to, through });
      }
    }
  }
  return all;
}

/**
 * Apertium uses ISO 639-3 with a variant after `_`: `eng_US`, `cat_valencia`. Returns null if it is not a valid BCP 47
 * tag.
 */
function toLanguageTag(code: string): string | null {
  return /^[a-z]{2,3}(_\w+)*$/.test(code) ? canonicalLanguage(code.replaceAll('_', '-')) : null;
}
