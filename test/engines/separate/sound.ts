/** Sound that tests of separation look at. */
import type { WavReader, WavWriter } from '../../../src/media/audio/wav.ts';
import { askProgram } from '../../support/remembered-programs.ts';

/** All samples of a file, as ffmpeg reads them. */
export function samplesOf(file: string, filter = 'anull'): Int16Array {
  const args = [
    '-v',
    'error',
    '-i',
    file,
    '-map',
    '0:a:0',
    '-af',
    filter,
    '-ar',
    '48000',
    '-ac',
    '2',
    '-f',
    's16le',
    '-',
  ];
  const bytes = askProgram('ffmpeg', args);
  return new Int16Array(new Uint8Array(bytes).buffer);
}

/** Level of a stretch in decibels below full scale. */
export function level(samples: Int16Array, from: number, to: number): number {
  const part = samples.subarray(Math.round(from * 48_000) * 2, Math.round(to * 48_000) * 2);
  const sum = part.reduce((total, sample) => total + (sample / 32_768) ** 2, 0);
  return 10 * Math.log10(sum / part.length + 1e-12);
}

/** Sound in memory, 48 kHz, with interleaved samples. */
export function soundOf(samples: Int16Array, channels: number): WavReader {
  return {
    channels,
    sampleRate: 48_000,
    frames: samples.length / channels,
    read: async (position, count) => {
      const read = new Int16Array(count * channels);
      const from = Math.max(0, position * channels);
      const to = Math.max(from, (position + count) * channels);
      read.set(samples.subarray(from, to), from - position * channels);
      return read;
    },
    close: async () => {},
  };
}

/** Keeps the samples that are written, 48 kHz. */
export function recorder(channels: number): WavWriter & { readonly heard: number[] } {
  const heard: number[] = [];
  return {
    ...{ channels, sampleRate: 48_000, heard },
    get frames() {
      return heard.length / channels;
    },
    write: async (samples) => void heard.push(...samples),
    close: async () => {},
  };
}

/** The same value on both channels. */
export function stereo(mono: ArrayLike<number>): Int16Array {
  return Int16Array.from({ length: 2 * mono.length }, (_, at) => Math.round(mono[at >> 1] ?? 0));
}
