/** Where the results of an item go, as far as that is known before the job is done. */
import { join } from 'node:path';
import { KINDS, type Kind } from '../../protocol/kinds.ts';
import type { BatchItem } from '../item.ts';
import type { Delivery } from './delivery.ts';
import { defaultTemplate, resultPath } from './result-name.ts';

/**
 * Absolute paths of all files of the result, or null while a name depends on what the job finds out.
 * @throws Failure of category usage for a template that is not usable
 */
export function resultPaths(
  item: Pick<BatchItem, 'kind' | 'input' | 'targetLanguage' | 'folder'>,
  delivery: Delivery,
): readonly string[] | null {
  const { kind, input, targetLanguage, folder } = item;
  const template = delivery.template || defaultTemplate(kind);
  const isLater = template.includes('{id}') || (template.includes('{lang}') && targetLanguage === null);
  const { result }: Kind = KINDS[kind];
  const paths = Object.values(result).flatMap((part) =>
    part.type === 'asset'
      ? resultPath(join(delivery.folder, folder), template, {
          stem: input.stem,
          lang: targetLanguage ?? '',
          asset: part.label,
          id: '',
          ext: part.extension,
        })
      : [],
  );
  return isLater ? null : paths;
}
