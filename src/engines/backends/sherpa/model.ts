/** Opens the model of an entry: the files of its folder, and its type by `model-types.ts`. */

import { open, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode } from '../../../base/system-error.ts';
import type { JobFailure } from '../../../protocol/job-failure.ts';
import { memoryOf } from '../model-memory.ts';
import type { BackendParts } from '../parts.ts';
import { expandHome, unusableEntryFailure } from '../parts.ts';
import { type FoundModel, findModel, type ModelType, RECOGNIZERS, SPEAKERS } from './model-types.ts';

export interface OpenedModel<T extends ModelType> {
  /** Name of the backend, such as `sherpa piper-es`. */
  readonly name: string;
  readonly found: FoundModel<T>;
  /** Full paths of its files, by the names that the configuration gives them. */
  readonly paths: Readonly<Record<string, string>>;
  readonly threads: number;
  /** Memory that it takes, in bytes. */
  readonly bytes: number;
}

/** Above this number, a processor gains little. */
const USEFUL_THREADS = 4;

interface ModelEntry {
  readonly folder: string;
  readonly threads?: number | undefined;
  readonly memoryMib?: number | undefined;
}

/** @throws JobFailure that says what is wrong with the folder */
export async function openModel<T extends ModelType>(
  entry: ModelEntry,
  types: readonly T[],
  parts: BackendParts,
): Promise<OpenedModel<T>> {
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
  const paths = Object.entries(found.files).map(([key, file]) => [key, folder.at(file)] as const);
  const files = Object.values(found.files);
  // Models of more than 2 GB have their weights in a file beside them, which only the models name.
  const weights = files.map((file) => `${file}.data`).filter((file) => folder.names.includes(file));
  const facts = await Promise.all([...files, ...weights].map((file) => stat(folder.at(file))));
  const fileBytes = facts.reduce((sum, { size }) => sum + size, 0);
  return {
    name,
    found,
    paths: Object.fromEntries(paths),
    threads: entry.threads ?? Math.min(USEFUL_THREADS, parts.programs.parallel),
    bytes: memoryOf(entry, fileBytes),
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

/** Metadata is at the end of a model. That of SenseVoice has some thousand numbers as text. */
const TAIL_BYTES = 256 * 1024;

export interface ModelFolder {
  readonly path: string;
  /** Its own name in lower case, which often names type and languages. */
  readonly name: string;
  /** Names of its files and folders. */
  readonly names: readonly string[];
  /**
   * Returns the name of the file that matches, or null. Of several, the quantized one, because it runs several times as
   * fast on a processor; then the one with the shortest name.
   */
  find(pattern: RegExp): string | null;
  /** Returns the full path of a file. */
  at(name: string): string;
  /** Returns a value of a model's metadata; empty if it has none. */
  metadata(file: string, key: string): Promise<string>;
  /** Returns the text of a small file; empty if it is missing. */
  text(name: string): Promise<string>;
}

/** @throws Error if it cannot be listed */
export async function openModelFolder(path: string): Promise<ModelFolder> {
  const folder = resolve(path);
  const names = (await readdir(folder)).toSorted();
  const tails = new Map<string, Promise<Buffer>>();
  return {
    path: folder,
    name: basename(folder).toLowerCase(),
    names,
    find: (pattern) => {
      const rank = (name: string) => (/int8|quant/i.test(name) ? 0 : 1);
      const found = names.filter((name) => pattern.test(name));
      return found.toSorted((a, b) => rank(a) - rank(b) || a.length - b.length)[0] ?? null;
    },
    at: (name) => join(folder, name),
    async metadata(file, key) {
      const tail = tails.get(file) ?? readTail(join(folder, file));
      tails.set(file, tail);
      return findMetadata(await tail, key);
    },
    text: (name) => readFile(join(folder, name), 'utf8').catch(() => ''),
  };
}

async function readTail(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length);
    return tail.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Fields of a key and its value in a protocol buffer: number and type of the field in one byte, then the length. */
const KEY = 0x0a;
const VALUE = 0x12;

/** Finds a value in the metadata of an ONNX model, pairs of texts in a protocol buffer. */
export function findMetadata(tail: Buffer, key: string): string {
  const field = Buffer.from([KEY, key.length, ...Buffer.from(key), VALUE]);
  const found = tail.lastIndexOf(field);
  if (found < 0) return '';
  let length = 0;
  let at = found + field.length;
  // A number is stored in groups of seven bits, the lowest first; the top bit says that more follow.
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = tail[at] ?? 0;
    at += 1;
    length += (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return tail.toString('utf8', at, at + length);
}

/** In the source tree the worker is beside this file; in the build it is beside the bundle, under another name. */
export function workerPath(): string {
  const name = import.meta.url.endsWith('.ts') ? './worker.ts' : './sherpa-worker.js';
  return fileURLToPath(new URL(name, import.meta.url));
}
