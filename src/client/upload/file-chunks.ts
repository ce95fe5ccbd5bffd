import { fileChanged, type SourceFile } from './source-file.ts';

/** Large enough that the cost of a step does not show, small enough to keep memory flat. Source: performance figures. */
const CHUNK_BYTES = 1024 ** 2;

/** One is being sent, one is read ahead, and one is with the consumer in between. */
const BUFFERS = 3;

/**
 * The bytes of a file in pieces of 1 MiB, one read ahead while the last is sent. A piece is valid until the next but one
 * is asked for: the consumer has handed it to the kernel by then.
 * @throws Failure (FILE_CHANGED) before the last piece, so that a changed file is never sent whole
 */
export async function* readChunks(source: SourceFile): AsyncGenerator<Buffer> {
  const { size } = source;
  const buffers = Array.from({ length: BUFFERS }, () => Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, size)));
  let turn = 0;
  const readAt = async (position: number) => {
    const buffer = buffers[turn % BUFFERS] ?? Buffer.alloc(0);
    turn += 1;
    const wanted = buffer.subarray(0, Math.min(CHUNK_BYTES, size - position));
    return wanted.subarray(0, await source.read(wanted, position));
  };
  let ahead = readAt(0);
  try {
    for (let position = 0; position < size; ) {
      const chunk = await ahead;
      if (chunk.length === 0) throw fileChanged(source.path);
      position += chunk.length;
      if (position < size) {
        ahead = readAt(position);
        // A failure shows at the next step; until then nobody is listening.
        ahead.catch(() => {});
      } else {
        await source.assertUnchanged();
      }
      yield chunk;
    }
  } finally {
    // The file may be closed only after the last read has come back.
    await ahead.catch(() => {});
  }
}
