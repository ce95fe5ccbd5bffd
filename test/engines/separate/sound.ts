/** Sound that tests of separation look at. */
import { execFileSync } from 'node:child_process';

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
  const bytes = execFileSync('ffmpeg', args, { maxBuffer: 1e9 });
  return new Int16Array(new Uint8Array(bytes).buffer);
}

/** Level of a stretch in decibels below full scale. */
export function level(samples: Int16Array, from: number, to: number): number {
  const part = samples.subarray(Math.round(from * 48_000) * 2, Math.round(to * 48_000) * 2);
  const sum = part.reduce((total, sample) => total + (sample / 32_768) ** 2, 0);
  return 10 * Math.log10(sum / part.length + 1e-12);
}
