/** Measures sound without any code of the project: ffmpeg decodes, and the arithmetic is here. */
import { execFileSync } from 'node:child_process';
import { askProgram } from './remembered-programs.ts';

export interface Sound {
  /** Mono, -1 to 1. */
  readonly samples: Float32Array;
  /** Hz. */
  readonly rate: number;
}

/** Decodes the first audio track of a file to mono at the given rate. */
export function decodeSound(file: string, rate = 16_000): Sound {
  const args = ['-v', 'error', '-i', file, '-vn', '-ac', '1', '-ar', String(rate), '-f', 'f32le', '-'];
  const bytes = askProgram('ffmpeg', args);
  const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~3));
  return { samples: new Float32Array(copy), rate };
}

/** Returns the samples between two times in seconds. */
export function between({ samples, rate }: Sound, from: number, to: number): Float32Array {
  return samples.subarray(Math.round(from * rate), Math.round(to * rate));
}

/** Returns the root mean square. */
export function loudness(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

/** Returns how much of `part` is in `whole`: 1 if it is there unchanged, 0 if it is missing. */
export function presence(part: Float32Array, whole: Float32Array): number {
  let product = 0;
  let energy = 0;
  for (let at = 0; at < Math.min(part.length, whole.length); at += 1) {
    const sample = part[at] ?? 0;
    product += sample * (whole[at] ?? 0);
    energy += sample * sample;
  }
  return product / Math.max(energy, Number.EPSILON);
}

/** Returns the delay of `whole` relative to `part` in samples, up to `reach`, at which `presence` is largest. */
export function bestDelay(part: Float32Array, whole: Float32Array, reach: number): number {
  let best = 0;
  let most = Number.NEGATIVE_INFINITY;
  for (let delay = -reach; delay <= reach; delay += 1) {
    const value = delay >= 0 ? presence(part, whole.subarray(delay)) : presence(part.subarray(-delay), whole);
    if (value > most) {
      most = value;
      best = delay;
    }
  }
  return best;
}

/**
 * Returns the time in seconds at which sound louder than `threshold` begins, at or after `from`; null if there is none.
 */
export function onset(sound: Sound, from: number, threshold: number): number | null {
  const window = Math.round(sound.rate * 0.005); // 5 ms: shorter than the 100 ms that matter, longer than a click
  for (let at = Math.round(from * sound.rate); at + window <= sound.samples.length; at += window) {
    if (loudness(sound.samples.subarray(at, at + window)) > threshold) return at / sound.rate;
  }
  return null;
}

/** Returns the true peak of the first audio track in decibels below full scale, as ffmpeg's meter shows it: to a tenth. */
export function truePeak(file: string): number {
  const args = ['-hide_banner', '-nostats', '-i', file, '-map', '0:a:0', '-af', 'ebur128=peak=true'];
  const command = ['-c', 'ffmpeg "$@" 2>&1', 'sh', ...args, '-f', 'null', '-'];
  const said = execFileSync('sh', command, { encoding: 'utf8' });
  return Number([...said.matchAll(/^\s*Peak:\s+(-?[\d.]+|-inf) dBFS/gm)].at(-1)?.[1]);
}
