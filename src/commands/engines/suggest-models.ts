/** Which models `vloc models install` would download for some languages, for messages of other commands. */

import { formatBytes } from '../../base/amounts.ts';
import { type ModelStep, sizeOf } from '../../engines/models/catalog.ts';
import { chooseModels } from '../../engines/models/choose.ts';
import { inspectModel } from '../../engines/models/store.ts';
import type { Context } from '../context/context.ts';
import { writeCommand } from '../context/printed-command.ts';
import { listModels, locateModels, machineMemoryMib } from './known-models.ts';

interface Languages {
  /** Null: not known. */
  readonly from: string | null;
  readonly to: readonly string[];
}

/** A clause such as `download kokoro (363 MB): vloc models install kokoro`; null if models do not do all steps, or are there. */
export async function suggestModels(
  { from, to }: Languages,
  steps: readonly ModelStep[],
  context: Context,
): Promise<string | null> {
  // A licence that must be accepted by name is not suggested.
  const catalog = (await listModels(context.io)).filter(({ licence }) => licence.accept === undefined);
  const wanted = { from: from ?? 'en', to, steps, size: 'small', memoryMib: machineMemoryMib() } as const;
  const { chosen, unmet } = chooseModels(catalog, wanted);
  const folder = locateModels(context.io);
  const states = await Promise.all(chosen.map(async (model) => (await inspectModel(folder, model)).state));
  const missing = chosen.filter((_, at) => states[at] === 'absent');
  if (unmet.length > 0 || missing.length === 0) return null;
  const names = missing.map(({ id }) => id);
  const bytes = missing.reduce((sum, model) => sum + sizeOf(model), 0);
  const command = writeCommand(context, ['models', 'install', ...names]);
  return `download ${names.join(', ')} (${formatBytes(bytes)}): ${command}`;
}
