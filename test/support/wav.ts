/** A small WAV file, made without a line of the project's own: the smallest result that is one. */

const SAMPLE_RATE = 8000;
const BYTES_PER_SAMPLE = 2;
/** One second, mono. */
const SILENCE = Buffer.alloc(SAMPLE_RATE * BYTES_PER_SAMPLE);

/** One second of silence as a WAV file. Source: the canonical header of RIFF WAVE, 44 bytes. */
export function silentWav(): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + SILENCE.length, 4); // what follows this number
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16); // length of the format chunk
  head.writeUInt16LE(1, 20); // PCM
  head.writeUInt16LE(1, 22); // channels
  head.writeUInt32LE(SAMPLE_RATE, 24);
  head.writeUInt32LE(SAMPLE_RATE * BYTES_PER_SAMPLE, 28);
  head.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  head.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  head.write('data', 36);
  head.writeUInt32LE(SILENCE.length, 40);
  return Buffer.concat([head, SILENCE]);
}
