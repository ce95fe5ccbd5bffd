/** Speaks subtitles as tones: a sawtooth of the pitch of the voice for each cue, whose loudness follows from its text. */
import { createHash } from 'node:crypto';
import type { SubtitleLine } from '../../src/protocol/subtitle-line.ts';

const RATE = 8000;
const HEAD_BYTES = 44;

export interface ToneVoice {
  /** Hz. */
  pitch: number;
  /** Share of full scale. */
  level: number;
}

/** Returns a WAV file, mono, that ends with the last cue. Source: the canonical header of RIFF WAVE, 44 bytes. */
export function speakTones(lines: readonly SubtitleLine[], { pitch, level }: ToneVoice): Buffer {
  const frames = Math.max(0, ...lines.map(({ end_ms }) => (end_ms * RATE) / 1000));
  const wav = Buffer.alloc(HEAD_BYTES + frames * 2);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(RATE, 24);
  wav.writeUInt32LE(RATE * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(frames * 2, 40);
  for (const { start_ms, end_ms, text } of lines) {
    // Texts differ by up to 2 dB.
    const share = 0.8 + (createHash('sha256').update(text).digest()[0] ?? 0) / 1280;
    for (let at = (start_ms * RATE) / 1000; at < (end_ms * RATE) / 1000; at += 1) {
      const phase = (at * pitch) / RATE;
      wav.writeInt16LE(
        Math.round((phase - Math.floor(phase) - 0.5) * level * share * 65_534),
        HEAD_BYTES + at * 2,
      );
    }
  }
  return wav;
}

/** The samples of such a file, or of one that vloc has written. */
export function samplesOf(wav: Buffer): Int16Array {
  const copy = Buffer.from(wav.subarray(HEAD_BYTES));
  return new Int16Array(copy.buffer, copy.byteOffset, copy.length >> 1);
}

/** Places of the samples that differ, in milliseconds: the first, and the end of the last. */
export function differingMs(one: Int16Array, other: Int16Array, rate = RATE): [number, number] | null {
  const places = Array.from({ length: Math.max(one.length, other.length) }, (_, at) => at).filter(
    (at) => one[at] !== other[at],
  );
  const [first, last] = [places[0], places.at(-1)];
  return first === undefined || last === undefined
    ? null
    : [(first * 1000) / rate, ((last + 1) * 1000) / rate];
}
