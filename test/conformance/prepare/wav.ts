/** How long a WAV file lasts, as its own chunks say. */
import assert from 'node:assert/strict';

/** Seconds of sound; fails for bytes that are no WAV. */
export function wavSeconds(bytes: Buffer): number {
  let bytesPerSecond = 0;
  // Chunks follow the twelve bytes of the RIFF head: a name of four, a size of four, and the content, at even offsets.
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    if (name === 'fmt ') bytesPerSecond = bytes.readUInt32LE(at + 16);
    if (name === 'data') return size / bytesPerSecond;
    at += 8 + size + (size % 2);
  }
  return assert.fail('there is no sound in the WAV');
}
