/** Terms that a transducer is told to expect: "hotwords", whose tokens it then prefers. */
import type { FoundModel } from './model-types.ts';

/** How words become tokens of a model. */
interface Tokenizing {
  /** Its part of the configuration of the model. */
  readonly config: { readonly modelingUnit: string; readonly bpeVocab?: string };
  /** The letters as the model knows them: some have only capitals. */
  readonly spell: (term: string) => string;
}

/**
 * Only transducers take terms. Chinese characters are tokens themselves; words are cut into tokens by a file that not every download has.
 * @returns null for a model that takes none
 */
export async function findTokenizing({ type, folder, files }: FoundModel): Promise<Tokenizing | null> {
  if (type.key !== 'transducer') return null;
  const tokens = (await folder.text(files.tokens ?? '')).replaceAll(/<.*>/g, '');
  const pieces = folder.find(/^bpe.*\.vocab$/);
  const units = [
    ...(/^\p{Script=Han}\s/mu.test(tokens) ? ['cjkchar'] : []),
    ...(pieces === null ? [] : ['bpe']),
  ];
  if (units.length === 0) return null;
  const spell = (term: string) => {
    if (!/\p{Ll}/u.test(tokens)) return term.toUpperCase();
    return /\p{Lu}/u.test(tokens) ? term : term.toLowerCase();
  };
  const modelingUnit = units.join('+');
  return { config: { modelingUnit, ...(pieces === null ? {} : { bpeVocab: folder.at(pieces) }) }, spell };
}
