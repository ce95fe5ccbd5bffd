/** Returns that many cryptographically random bytes. */
export type RandomBytes = (size: number) => Buffer;

/** 4 KiB: the system's generator takes as long for one byte as for hundreds, and every answer needs an id. */
const POOL_BYTES = 4096;
/** 32 bits per fraction. */
const DRAW_BYTES = 4;

/** Creates a source of fractions in [0, 1) from random bytes, read in large blocks. */
export function createFractions(randomBytes: RandomBytes): () => number {
  let pool: Buffer = Buffer.alloc(0);
  let used = 0;
  return () => {
    if (used + DRAW_BYTES > pool.length) {
      pool = randomBytes(POOL_BYTES);
      used = 0;
    }
    const fraction = pool.readUInt32BE(used) / 2 ** 32;
    used += DRAW_BYTES;
    return fraction;
  };
}
