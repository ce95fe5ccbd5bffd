/** Notices that the licences of models demand where results are published that they made. */

import type { ItemReport } from '../../batch/report/item-report.ts';
import type { EnginesConfig } from '../../engines/config.ts';
import { nameEntry } from '../../engines/entry.ts';
import { fillEntry } from '../../engines/models/catalog.ts';
import type { Context } from '../context/context.ts';
import { listModels } from '../engines/known-models.ts';

type Entry = Exclude<NonNullable<EnginesConfig['speak']>[number], string>;

/** The notices of the models that made some items, in the order of the catalogue. */
export async function listAttributions(
  items: readonly Pick<ItemReport, 'provenance'>[],
  { io }: Pick<Context, 'io'>,
): Promise<readonly string[]> {
  const used = new Set(
    items.flatMap(({ provenance }) => provenance?.engines.map(({ engine }) => engine) ?? []),
  );
  if (used.size === 0) return [];
  // Services name an engine as `engines list` does, here with the folder of the model.
  return (await listModels(io))
    .filter((model) => used.has(nameEntry(fillEntry(model, `/${model.id}`) as Entry))) // its type is known
    .map(({ licence }) => licence.notice);
}
