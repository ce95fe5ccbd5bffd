/** Mixes sound tracks that begin at different times, such as the dubs of several speakers. */
import { HIGHEST_PEAK } from '../audio/limiter.ts';
import { openWav, type WavReader, type WavWriter } from '../audio/wav.ts';

/** A 16-bit WAV file with the sample rate and channels of the result. */
export interface Track {
  readonly path: string;
  /** Samples per channel from the start of the result to the start of the track. */
  readonly from: number;
}

/** Windows in each second. */
const WINDOWS = 100;
/** A dub overruns its end by the rest of a sentence. More than a minute is a fault. */
const MOST_OVERRUN_SECONDS = 60;

/**
 * Writes the sum of the tracks. It ends with the longest track, and not before `endFrames`. Where its true peak is above
 * -1 dBTP, the 10 ms around it are lowered, with a ramp on both sides; all other samples are the exact sum.
 */
export async function mixTracks(tracks: readonly Track[], endFrames: number, out: WavWriter): Promise<void> {
  const wavs: (WavReader & { readonly from: number })[] = [];
  try {
    for (const { path, from } of tracks) wavs.push({ ...(await openWav(path)), from });
    const longest = Math.max(endFrames, ...wavs.map(({ from, frames }) => from + frames));
    const frames = Math.min(longest, endFrames + MOST_OVERRUN_SECONDS * out.sampleRate);
    const window = Math.max(1, Math.round(out.sampleRate / WINDOWS));
    let before = 1;
    for (let at = 0; at < frames; at += window * WINDOWS) {
      // One window more, because its loudness decides the end of the ramp before it.
      const sums = await addUp(wavs, at, window * (WINDOWS + 1), out.channels);
      const gains = gainsOf(sums, window * out.channels, out.channels);
      const lowered = lower(sums, gains, before, window * out.channels);
      await out.write(lowered.subarray(0, Math.min(WINDOWS * window, frames - at) * out.channels));
      before = gains[WINDOWS - 1] ?? 1;
    }
  } finally {
    await Promise.all(wavs.map((wav) => wav.close()));
  }
}

async function addUp(
  wavs: readonly (WavReader & { readonly from: number })[],
  at: number,
  frames: number,
  channels: number,
): Promise<Int32Array> {
  const sums = new Int32Array(frames * channels);
  for (const wav of wavs) {
    if (at + frames <= wav.from || at >= wav.from + wav.frames) continue;
    const samples = await wav.read(at - wav.from, frames);
    for (let index = 0; index < sums.length; index += 1)
      sums[index] = (sums[index] ?? 0) + (samples[index] ?? 0);
  }
  return sums;
}

/** Sums of 16-bit samples. */
const LOUDEST = Math.floor(HIGHEST_PEAK * 32_768);

/** The gain with which the peaks of a window are at most `LOUDEST`; at most 1. */
function gainsOf(sums: Int32Array, window: number, channels: number): number[] {
  const gains: number[] = [];
  for (let from = 0; from < sums.length; from += window) {
    let peak = LOUDEST;
    for (let at = from; at < from + window; at += 1) {
      const sum = Math.abs(sums[at] ?? 0);
      if (sum * HIGHEST_BETWEEN > peak) peak = Math.max(peak, sum, peakBetween(sums, at, channels));
    }
    gains.push(LOUDEST / peak);
  }
  return gains;
}

/** Peaks between two samples are rarely more than 3 dB above them. */
const HIGHEST_BETWEEN = Math.SQRT2;
/** Samples on each side that the sound between two samples is computed from. */
const REACH = 8;
/** Weights of the samples around a place between two of them, in quarters: a sinc with the window of Hann. */
const BETWEEN = [0.25, 0.5, 0.75].map((place) =>
  Array.from({ length: 2 * REACH }, (_, at) => {
    const distance = at - (REACH - 1) - place;
    const angle = Math.PI * distance;
    return (Math.sin(angle) / angle) * Math.cos(angle / 2 / REACH) ** 2;
  }),
);

/** The highest of the three places between a sample and the next one of its channel. */
function peakBetween(sums: Int32Array, sample: number, channels: number): number {
  const first = sample - (REACH - 1) * channels;
  let peak = 0;
  for (const weights of BETWEEN) {
    let value = 0;
    for (let at = 0; at < weights.length; at += 1)
      value += (weights[at] ?? 0) * (sums[first + at * channels] ?? 0);
    peak = Math.max(peak, Math.abs(value));
  }
  return peak;
}

/**
 * Applies the gains, except to the last window. The gain runs in a line between the borders of windows. At a border it is the
 * smaller of both, so no sample of a window gets more than the gain of the window.
 * @param before gain of the window before the first
 */
function lower(sums: Int32Array, gains: readonly number[], before: number, window: number): Int16Array {
  const samples = new Int16Array(sums.length - window);
  for (let index = 0; index < samples.length; index += 1) {
    const at = Math.floor(index / window);
    const own = gains[at] ?? 1;
    const left = Math.min(own, at === 0 ? before : (gains[at - 1] ?? 1));
    const right = Math.min(own, gains[at + 1] ?? 1);
    const gain = left + ((right - left) * (index % window)) / window;
    samples[index] = Math.round((sums[index] ?? 0) * gain);
  }
  return samples;
}
