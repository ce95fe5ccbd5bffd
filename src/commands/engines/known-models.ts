/** The models that this version knows, and where they are on this machine. */
import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import { type Model, parseCatalog, readCatalog } from '../../engines/models/catalog.ts';
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
