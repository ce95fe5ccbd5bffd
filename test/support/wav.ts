/** Creates small WAV files for results, without the code under test. */

const SAMPLE_RATE = 8000;
const BYTES_PER_SAMPLE = 2;

/** A chunk that players skip, with an even length as RIFF requires; empty for an empty text. */
function noteChunk(text: string): Buffer {
  if (text === '') return Buffer.alloc(0);
  const note = Buffer.from(text.padEnd(text.length + (text.length % 2)));
  const head = Buffer.alloc(8);
  head.write('note', 0);
  head.writeUInt32LE(note.length, 4);
  return Buffer.concat([head, note]);
}

/**
 * Returns silence as a WAV file, mono. Source: the canonical header of RIFF WAVE, 44 bytes.
 * @param note written to a chunk after the sound, so that files differ
 */
export function silentWav(seconds = 1, note = ''): Buffer {
  const sound = Buffer.alloc(Math.ceil(seconds * SAMPLE_RATE) * BYTES_PER_SAMPLE);
  const chunk = noteChunk(note);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + sound.length + chunk.length, 4); // the bytes after this number
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16); // length of the format chunk
  head.writeUInt16LE(1, 20); // PCM
  head.writeUInt16LE(1, 22); // channels
  head.writeUInt32LE(SAMPLE_RATE, 24);
  head.writeUInt32LE(SAMPLE_RATE * BYTES_PER_SAMPLE, 28);
  head.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  head.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  head.write('data', 36);
  head.writeUInt32LE(sound.length, 40);
  return Buffer.concat([head, sound, chunk]);
}
