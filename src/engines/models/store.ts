/**
 * The folders of installed models. A model grows in a hidden folder beside its own (`.ID`), gets `installed.json` last, and
 * then its name: under its name it is either whole or not there at all.
 */
import { readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { makeFolder } from '../../base/folder.ts';
import { hashFile } from '../../base/hash-file.ts';
import { syncFile, syncFolder } from '../../base/sync.ts';
import { onDisk } from '../../base/system-error.ts';
import type { Model, ModelFile } from './catalog.ts';

const RECORD = 'installed.json';

const Installed = v.looseObject({
  id: v.string(),
  files: v.array(v.looseObject({ path: v.string(), bytes: v.number(), sha256: v.string() })),
});

/** `outdated`: whole, but of another version of the catalogue. */
type ModelState = 'absent' | 'complete' | 'outdated' | 'damaged';

export interface ModelReport {
  readonly state: ModelState;
  /** Paths of its files that are missing or have another size. */
  readonly wrong: readonly string[];
}

/** The folder of an installed model. */
export function folderOf(models: string, { id }: Pick<Model, 'id'>): string {
  return join(models, id);
}

/** The folder in which a model grows. */
export function stagingOf(models: string, { id }: Pick<Model, 'id'>): string {
  return join(models, `.${id}`);
}

/** The former version of a model, until it is removed. */
function replacedOf(models: string, { id }: Pick<Model, 'id'>): string {
  return join(models, `.${id}.old`);
}

/** Looks at an installed model. */
export async function inspectModel(models: string, model: Model): Promise<ModelReport> {
  const folder = folderOf(models, model);
  if (!(await isFolder(folder))) return { state: 'absent', wrong: [] };
  const record = await readRecord(folder);
  if (record === null) return { state: 'damaged', wrong: [RECORD] };
  const checked = await Promise.all(
    record.files.map(async (file) => ((await hasSize(folder, file)) ? [] : [file.path])),
  );
  const wrong = checked.flat();
  if (wrong.length > 0) return { state: 'damaged', wrong };
  const hashes = (files: readonly Pick<ModelFile, 'path' | 'sha256'>[]) =>
    files
      .map(({ path, sha256 }) => `${path} ${sha256}`)
      .toSorted()
      .join('\n');
  return { state: hashes(record.files) === hashes(model.files) ? 'complete' : 'outdated', wrong };
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}

/** Null if it is missing or not readable as a record. */
async function readRecord(folder: string): Promise<v.InferOutput<typeof Installed> | null> {
  const text = await readFile(join(folder, RECORD), 'utf8').catch(() => '');
  try {
    return v.parse(Installed, JSON.parse(text));
  } catch {
    return null;
  }
}

async function hasSize(folder: string, { path, bytes }: Pick<ModelFile, 'path' | 'bytes'>): Promise<boolean> {
  const facts = await stat(join(folder, path)).catch(() => null);
  return facts?.isFile() === true && facts.size === bytes;
}

/**
 * Prepares the folder in which a model grows, from an earlier attempt or a damaged installation, and returns the files that
 * are still missing. Files in it that are not right are removed. An outdated model stays in use until the new one is whole.
 * @throws Failure (`disk`)
 */
export async function beginModel(models: string, model: Model): Promise<readonly ModelFile[]> {
  const staging = stagingOf(models, model);
  const folder = folderOf(models, model);
  const { state } = await inspectModel(models, model);
  return onDisk(staging, async () => {
    if (state === 'damaged') {
      await rm(staging, { recursive: true, force: true });
      await rename(folder, staging);
    }
    await makeFolder(staging);
    const missing: ModelFile[] = [];
    for (const file of model.files) {
      const path = join(staging, file.path);
      if ((await hasSize(staging, file)) && (await hashFile(path)) === file.sha256) continue;
      missing.push(file);
      await rm(path, { recursive: true, force: true });
    }
    return missing;
  });
}

/**
 * Gives a model whose files are all there its name. Other files in its folder are removed: an engine might use them.
 * @throws Failure (`disk`)
 */
export async function finishModel(models: string, model: Model): Promise<void> {
  const staging = stagingOf(models, model);
  await onDisk(staging, async () => {
    await removeOthers(staging, new Set(model.files.map(({ path }) => path)));
    const record = join(staging, RECORD);
    await writeFile(record, `${JSON.stringify({ id: model.id, files: model.files }, null, 2)}\n`);
    await syncFile(record);
    const folder = folderOf(models, model);
    const replaced = replacedOf(models, model);
    await rm(replaced, { recursive: true, force: true });
    if (await isFolder(folder)) await rename(folder, replaced);
    await rename(staging, folder);
    await syncFolder(models);
    await rm(replaced, { recursive: true, force: true });
  });
}

async function removeOthers(folder: string, kept: ReadonlySet<string>, under = ''): Promise<void> {
  for (const entry of await readdir(join(folder, under), { withFileTypes: true })) {
    const path = under === '' ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory()) await removeOthers(folder, kept, path);
    else if (!kept.has(path)) await rm(join(folder, path));
  }
  // Fails for a folder that has files.
  if (under !== '') await rmdir(join(folder, under)).catch(() => {});
}

/** Removes a model, and what an interrupted installation left of it. @throws Failure (`disk`) */
export async function removeModel(models: string, model: Pick<Model, 'id'>): Promise<void> {
  const staging = stagingOf(models, model);
  const folder = folderOf(models, model);
  await onDisk(folder, async () => {
    await rm(staging, { recursive: true, force: true });
    // Without its name at once: nothing uses a half of it.
    if (await isFolder(folder)) await rename(folder, staging);
    for (const left of [staging, replacedOf(models, model)]) await rm(left, { recursive: true, force: true });
  });
}
