import type { StoredFile } from '../journal/next-step.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../protocol/kinds.ts';

/**
 * Files out of the journal with the names of their parts of the result; null where the kind has no such part. Earlier
 * versions wrote no names, and the files in the order of the parts.
 */
export function nameParts(
  kind: JobKind,
  files: readonly StoredFile[],
): readonly (Omit<StoredFile, 'asset'> & { readonly asset: string | null })[] {
  const parts: [string, ResultPart][] = Object.entries(KINDS[kind].result);
  const assets = parts.flatMap(([name, { type }]) => (type === 'asset' ? [name] : []));
  return files.map((file, place) => ({ ...file, asset: file.asset ?? assets[place] ?? null }));
}
