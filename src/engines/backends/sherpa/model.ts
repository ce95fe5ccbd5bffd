/** Opens the model of an entry: its folder, type and languages. */
import { basename } from 'node:path';
import { errorCode } from '../../../base/system-error.ts';
import type { JobFailure } from '../../../protocol/job-failure.ts';
import type { BackendParts } from '../parts.ts';
import { expandHome, unusableEntryFailure } from '../user-entry.ts';
import { type ModelFolder, openModelFolder } from './model-folder.ts';
import { type FoundModel, findModel, type ModelType, RECOGNIZERS, SPEAKERS } from './model-types.ts';

export interface OpenedModel {
  /** Name of the backend, such as `sherpa piper-es`. */
  readonly name: string;
  readonly folder: ModelFolder;
  readonly found: FoundModel;
  /** Full paths of its files, by the names that the configuration gives them. */
  readonly paths: Readonly<Record<string, string>>;
  readonly threads: number;
}

/** Above this number, a processor gains little. */
const USEFUL_THREADS = 4;

/** @throws JobFailure that says what is wrong with the folder */
export async function openModel(
  entry: { readonly folder: string; readonly threads?: number | undefined },
  types: readonly ModelType[],
  parts: BackendParts,
): Promise<OpenedModel> {
  const path = expandHome(entry.folder, parts.env);
  const name = `sherpa ${basename(path)}`;
  let folder: ModelFolder;
  try {
    folder = await openModelFolder(path);
  } catch (error) {
    throw modelFolderFailure(name, entry.folder, error);
  }
  const found = await findModel(folder, types).catch(async (error: Error) => {
    const why = (await usualMistake(folder, types)) ?? `the folder ${error.message}`;
    throw unusableEntryFailure(`${name}: ${why}`, error);
  });
  const paths = Object.entries(found.files).map(([key, file]) => [key, folder.at(file)]);
  return {
    name,
    folder,
    found,
    paths: Object.fromEntries(paths),
    threads: entry.threads ?? Math.min(USEFUL_THREADS, parts.programs.parallel),
  };
}

function modelFolderFailure(name: string, path: string, error: unknown): JobFailure {
  const why =
    { ENOENT: 'does not exist', ENOTDIR: 'is a file, not a folder' }[errorCode(error)] ?? 'cannot be read';
  return unusableEntryFailure(`${name}: "folder" in engines.json ${why} (${path})`, error);
}

/** A model for the other step, or the folder around the model. */
async function usualMistake(folder: ModelFolder, types: readonly ModelType[]): Promise<string | null> {
  const [others, step] = types === SPEAKERS ? [RECOGNIZERS, 'recognize'] : [SPEAKERS, 'speak'];
  const isWhole = (path: ModelFolder, wanted: readonly ModelType[]) =>
    findModel(path, wanted).then(
      () => true,
      () => false,
    );
  if (await isWhole(folder, others)) {
    return `the folder has a model for the step "${step}"; move the entry there in engines.json`;
  }
  for (const name of folder.names) {
    const inner = await openModelFolder(folder.at(name)).catch(() => null);
    if (inner !== null && (await isWhole(inner, types))) {
      return `the folder has no model, but the folder "${name}" in it has; name that one in engines.json`;
    }
  }
  return null;
}
