/** Copies of files in one ZIP file, or in a folder. */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { diskFailure } from './failure.ts';
import { makeFolder } from './folder.ts';
import { publishWhole, replaceFile } from './replace-file.ts';
import { describeUnreadable, errorCode } from './system-error.ts';

export interface PackedFile {
  /** Its path in the package, `/` between folders. */
  readonly name: string;
  /** Its content, or the file with it, absolute. */
  readonly content: string | { readonly file: string };
}

/** Reads of 1 MiB, so that copying a large video needs few calls. */
const READ_BYTES = 1024 ** 2;

/**
 * Writes a new folder with the files.
 * @throws Failure (`disk`); the reason of the signal
 */
export async function writePackFolder(
  path: string,
  files: readonly PackedFile[],
  signal: AbortSignal,
): Promise<void> {
  await publishWhole(path, async (draft) => {
    for (const { name, content } of files) {
      const target = join(draft, name);
      await makeFolder(dirname(target));
      await writeFile(target, typeof content === 'string' ? content : readSource(content.file, signal));
    }
  });
}

/**
 * Writes a ZIP file with the files, as they are: videos do not become smaller.
 * @throws Failure (`disk`); the reason of the signal
 */
export async function writePackFile(
  path: string,
  files: readonly PackedFile[],
  signal: AbortSignal,
): Promise<void> {
  await replaceFile(path, zipFiles(files, signal));
}

async function* zipFiles(files: readonly PackedFile[], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { ZipFile } = await import('yazl');
  const archive = new ZipFile();
  const output = archive.outputStream.pipe(new PassThrough());
  const sources: Readable[] = [];
  archive.once('error', (error) => output.destroy(error));
  for (const { name, content } of files) {
    if (typeof content === 'string') archive.addBuffer(Buffer.from(content), name, { compress: false });
    else
      archive.addReadStreamLazy(name, { compress: false }, (give) => {
        const source = Readable.from(readSource(content.file, signal));
        source.once('error', (error) => archive.emit('error', error));
        sources.push(source);
        give(null, source);
      });
  }
  archive.end();
  try {
    yield* output;
  } finally {
    for (const source of sources) source.destroy();
  }
}

async function* readSource(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: READ_BYTES, signal });
  } catch (error) {
    signal.throwIfAborted();
    const reason = describeUnreadable(error) ?? `the file system reports ${errorCode(error)}`;
    const advice = 'Check the file, then run the same command again.';
    throw diskFailure('DISK_ERROR', `cannot read ${path}: ${reason}`, advice, {}, { cause: error });
  }
}
