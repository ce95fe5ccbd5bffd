/** Measures the pitch of a voice, by autocorrelation. */
import type { Segment } from './segments.ts';
import { openWav } from './wav.ts';

/** Hz. The voices of people are between these values. */
const LOWEST = 60;
const HIGHEST = 400;
/** Seconds: slightly more than two periods of the lowest pitch. */
const FRAME = 0.05;
/** Share of a voiced frame's energy that repeats after one period. Noise stays below. */
const VOICED = 0.6;
/** Frames of a long video that are measured, evenly spread: as many as a minute of speech has. They take half a second. */
const MOST_FRAMES = 1_200;
/** A second of voiced sound: what is less may be a few tones of music. */
const LEAST_VOICED = 20;
/** A frame whose level is a smaller share of that of the speech is the end of a word, breath or what is left of other sound. */
const AUDIBLE = 0.25;

/** Seconds over which samples are averaged: with the harmonics above 1 kHz, a period would have to be whole samples long to repeat. */
const SMOOTHED = 0.0005;

interface Frame {
  /** Root mean square. */
  readonly level: number;
  /** Hz; null if nothing repeats. */
  readonly pitch: number | null;
}

/**
 * Returns the median pitch of the voiced sound in Hz; null if there is hardly any. Of several speakers, it is near that of
 * the one who speaks most.
 * @param path mono WAV file of 16-bit samples
 * @param segments the times of speech in it
 */
export async function medianPitch(
  path: string,
  segments: readonly Segment[],
  signal: AbortSignal,
): Promise<number | null> {
  const speech = segments.reduce((sum, { start, end }) => sum + end - start, 0);
  const step = Math.max(FRAME, speech / MOST_FRAMES);
  const times = segments.flatMap(({ start, end }) =>
    Array.from({ length: Math.floor((end - start) / step) }, (_, at) => start + at * step),
  );
  const wav = await openWav(path);
  const frames: Frame[] = [];
  try {
    const length = Math.round(FRAME * wav.sampleRate);
    for (const time of times) {
      signal.throwIfAborted();
      const read = await wav.read(Math.round(time * wav.sampleRate), 2 * length);
      const samples = smooth(read, Math.round(SMOOTHED * wav.sampleRate));
      frames.push({ level: levelOf(samples), pitch: pitchOf(samples, length, wav.sampleRate) });
    }
  } finally {
    await wav.close();
  }
  const audible = AUDIBLE * Math.sqrt(frames.reduce((sum, { level }) => sum + level ** 2, 0) / frames.length);
  const pitches = frames.flatMap(({ level, pitch }) => (level < audible || pitch === null ? [] : [pitch]));
  if (pitches.length < LEAST_VOICED) return null;
  return pitches.sort((one, other) => one - other)[Math.floor(pitches.length / 2)] ?? null;
}

/** Returns the sums of `width` samples, from each on; silence follows. */
function smooth(samples: Int16Array, width: number): Float32Array {
  let sum = 0;
  const sums = new Float32Array(samples.length);
  for (let at = samples.length - 1; at >= 0; at -= 1) {
    sum += (samples[at] ?? 0) - (samples[at + width] ?? 0);
    sums[at] = sum;
  }
  return sums;
}

function levelOf(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length);
}

/** Returns the pitch of the first `length` samples, compared with the following ones; null if nothing repeats. */
function pitchOf(samples: Float32Array, length: number, rate: number): number | null {
  const shortest = Math.floor(rate / HIGHEST);
  const longest = Math.ceil(rate / LOWEST);
  const alike = Array.from({ length: longest + 1 }, (_, lag) =>
    lag < shortest ? 0 : likeness(samples, lag, length),
  );
  const most = Math.max(...alike);
  if (most < VOICED) return null;
  // Two periods match as well as one, so the shortest lag that is nearly as good is the period.
  const lag = alike.findIndex((value, at) => value > most * 0.9 && value >= (alike[at + 1] ?? 0));
  return rate / lag;
}

function likeness(samples: Float32Array, lag: number, length: number): number {
  let product = 0;
  let here = 0;
  let there = 0;
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [samples[at] ?? 0, samples[at + lag] ?? 0];
    product += one * other;
    here += one * one;
    there += other * other;
  }
  return product / Math.max(Math.sqrt(here * there), Number.EPSILON);
}
