import type { ByteHash } from './byte-hash.ts';
import { fileChanged, type SourceFile } from './source-file.ts';

/** Large enough that the cost of a step does not show, small enough to keep memory flat. Source: performance figures. */
const CHUNK_BYTES = 1024 ** 2;

/** One is being sent, one is read ahead, and one is with the consumer in between. */
const BUFFERS = 3;
/** One more may wait for its turn to be hashed. */
const BUFFERS_HASHED = BUFFERS + 1;

/**
 * The bytes of a file in pieces of 1 MiB, one read ahead while the last is sent. A piece is valid until the next but one
 * is asked for: the consumer has handed it to the kernel by then.
 * @param hash takes every piece as it is handed out; its memory is used again only when it was taken
 * @throws Failure (FILE_CHANGED) before the last piece, so that a changed file is never sent whole
 */
export async function* readChunks(source: SourceFile, hash: ByteHash | null = null): AsyncGenerator<Buffer> {
  const { size } = source;
  const slots = createSlots(Math.min(CHUNK_BYTES, size), hash);
  const readAt = async (position: number) => {
    const slot = slots.next();
    await slot.taken;
    const wanted = slot.buffer.subarray(0, Math.min(CHUNK_BYTES, size - position));
    const chunk = wanted.subarray(0, await source.read(wanted, position));
    if (hash !== null) slot.taken = hash.update(chunk);
    return chunk;
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

interface Slot {
  readonly buffer: Buffer;
  /** Resolves when the hash is done with what is in it. */
  taken: Promise<void>;
}

/** Buffers that take turns, each made when it is first needed. */
function createSlots(bytes: number, hash: ByteHash | null): { next(): Slot } {
  const count = hash === null ? BUFFERS : BUFFERS_HASHED;
  const allocate = hash?.allocate ?? Buffer.allocUnsafeSlow;
  const made: Slot[] = [];
  let turn = 0;
  return {
    next() {
      const at = turn % count;
      turn += 1;
      const slot = made[at] ?? { buffer: allocate(bytes), taken: Promise.resolve() };
      made[at] = slot;
      return slot;
    },
  };
}
