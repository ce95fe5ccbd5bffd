/** Files of a model folder: found by name, with the metadata that sherpa's models carry. */
import { open, readdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';

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
