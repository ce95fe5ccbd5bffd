/** The models that this version knows, and where they are on this machine. */
import { totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { findCardObstacle, readPlace } from '../../engines/backends/llama/card.ts';
import { RUNTIME_FOLDER } from '../../engines/backends/llama/runtime.ts';
import { fillEntry, type Model, parseCatalog, readCatalog } from '../../engines/models/catalog.ts';
import { folderOf } from '../../engines/models/store.ts';
import { modelsFolder } from '../../profiles/environment.ts';
import type { Io, TestSettings } from '../context/context.ts';

/** The folder of all models. */
export function locateModels({ env, platform, cwd }: Pick<Io, 'env' | 'platform' | 'cwd'>): string {
  return resolve(cwd, modelsFolder(env, platform));
}

/** Memory of this machine, in MiB. */
export function machineMemoryMib(): number {
  return Math.floor(totalmem() / 1024 ** 2);
}

/** The models that this version knows. @throws Failure (`configuration`) */
export async function listModels({
  modelCatalog,
}: Pick<TestSettings, 'modelCatalog'>): Promise<readonly Model[]> {
  return modelCatalog === undefined ? readCatalog() : parseCatalog(modelCatalog);
}

/** Where a model runs that may use a graphics card, in words; null for others, and if it never ran. */
export async function findPlace(
  model: Model,
  io: Pick<Io, 'env' | 'platform' | 'cwd'>,
): Promise<string | null> {
  const folder = locateModels(io);
  const entry = fillEntry(model, folderOf(folder, model));
  if (!('model' in entry) || typeof entry.model !== 'string') return null;
  const obstacle = await findCardObstacle(io.env, join(folder, RUNTIME_FOLDER));
  return obstacle === null ? readPlace(io.env, entry.model) : `processor: ${obstacle}`;
}
