/** Where the results of an item go, as far as that is known before the job is done. */
import { join } from 'node:path';
import type { BatchItem } from '../item.ts';
import type { Delivery } from './delivery.ts';
import { assetPaths, defaultTemplate } from './result-name.ts';

/** Stands in a name for a language that the job finds out. */
const ANY_LANGUAGE = 'LANG';

export interface Places {
  /** Absolute paths of all files of the result, or null while a name depends on what the job finds out. */
  readonly paths: readonly string[] | null;
  /** What no other item may write: two videos of one name are mostly in one language too. Empty for names with `{id}`. */
  readonly claims: readonly string[];
}

/**
 * Where the result goes, and what it takes from others.
 * @throws Failure of category usage for a template that is not usable
 */
export function placeResults(item: PlaceableItem, delivery: Delivery): Places {
  const paths = resultPaths(item, delivery);
  if (paths !== null) return { paths, claims: paths };
  if (delivery.template.includes('{id}')) return { paths, claims: [] };
  return { paths, claims: resultPaths({ ...item, targetLanguage: ANY_LANGUAGE }, delivery) ?? [] };
}

type PlaceableItem = Pick<BatchItem, 'kind' | 'input' | 'targetLanguage' | 'folder'>;

/**
 * Absolute paths of all files of the result, or null while a name depends on what the job finds out.
 * @throws Failure of category usage for a template that is not usable
 */
export function resultPaths(item: PlaceableItem, delivery: Delivery): readonly string[] | null {
  const { kind, input, targetLanguage, folder } = item;
  const template = delivery.template || defaultTemplate(kind);
  const isLater = template.includes('{id}') || (template.includes('{lang}') && targetLanguage === null);
  const parts = { stem: input.stem, lang: targetLanguage ?? '', id: '' };
  const paths = assetPaths(kind, join(delivery.folder, folder), template, parts);
  return isLater ? null : paths;
}
