/** Computes the length of a WAV file from its chunks. */
import assert from 'node:assert/strict';

/** Returns the seconds of sound. Fails for bytes that are not a WAV. */
export function wavSeconds(bytes: Buffer): number {
  let bytesPerSecond = 0;
  // Chunks follow the twelve bytes of the RIFF header: a name of four bytes, a size of four bytes, and the content, at
  // even offsets.
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    if (name === 'fmt ') bytesPerSecond = bytes.readUInt32LE(at + 16);
    if (name === 'data') return size / bytesPerSecond;
    at += 8 + size + (size % 2);
  }
  return assert.fail('there is no sound in the WAV');
}
