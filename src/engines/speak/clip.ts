/** A piece of spoken sound: mono, 16 bit. */
import { parseWavHeader } from '../media/wav.ts';

export interface Clip {
  readonly samples: Int16Array;
  readonly sampleRate: number;
}

/** Quieter than this (of 32,768) counts as silence: the noise floor of a synthetic voice is far below. */
const SILENCE = 200;
/** Kept before the first and after the last sound, in seconds, so that no consonant is cut. */
const LEAD = 0.002;
const TAIL = 0.01;

/** Reads a WAV as espeak-ng streams it: its header names a length of 2 GiB. @throws Error when it is no WAV */
export function parseClip(wav: Buffer): Clip {
  const { sampleRate, dataStart, dataBytes } = parseWavHeader(wav, wav.length);
  const samples = new Int16Array(dataBytes >> 1);
  for (let at = 0; at < samples.length; at += 1) samples[at] = wav.readInt16LE(dataStart + 2 * at);
  return { samples, sampleRate };
}

/** Without the silence at both ends; empty when there is nothing else. */
export function trimSilence({ samples, sampleRate }: Clip): Clip {
  const isSound = (sample: number) => Math.abs(sample) >= SILENCE;
  const first = samples.findIndex(isSound);
  if (first < 0) return { samples: new Int16Array(0), sampleRate };
  const last = samples.findLastIndex(isSound);
  const from = Math.max(0, first - Math.round(LEAD * sampleRate));
  const to = Math.min(samples.length, last + 1 + Math.round(TAIL * sampleRate));
  return { samples: samples.slice(from, to), sampleRate };
}

/** Length in seconds. */
export function clipSeconds({ samples, sampleRate }: Clip): number {
  return samples.length / sampleRate;
}

/** How long the end of a clip that must be cut is faded out, in seconds, so that it does not click. */
const FADE = 0.01;

/** The first `count` samples; faded out when some are cut off. */
export function cutClip({ samples, sampleRate }: Clip, count: number): Clip {
  if (samples.length <= count) return { samples, sampleRate };
  const kept = samples.slice(0, Math.max(0, count));
  const fade = Math.min(kept.length, Math.round(FADE * sampleRate));
  for (let at = 0; at < fade; at += 1) {
    const place = kept.length - fade + at;
    kept[place] = Math.round(((kept[place] ?? 0) * (fade - at)) / fade);
  }
  return { samples: kept, sampleRate };
}
