/** Measures the pitch of a voice, by autocorrelation. */
import { loudness, type Sound } from './audio.ts';

/** Hz. The voices of people and of espeak-ng are between these values. */
const LOWEST = 60;
const HIGHEST = 400;
/** Seconds: slightly more than two periods of the lowest pitch. */
const FRAME = 0.05;
/** Share of a voiced frame's energy that repeats after one period. Noise stays below. */
const VOICED = 0.6;

/** Returns the median fundamental frequency of the voiced frames in Hz; NaN if there are none. */
export function fundamental({ samples, rate }: Sound): number {
  const length = Math.round(FRAME * rate);
  const audible = loudness(samples) / 4;
  const pitches: number[] = [];
  for (let at = 0; at + 2 * length <= samples.length; at += length) {
    const frame = samples.subarray(at, at + 2 * length);
    if (loudness(frame) < audible) continue;
    const pitch = pitchOf(frame, length, rate);
    if (pitch !== null) pitches.push(pitch);
  }
  return pitches.sort((left, right) => left - right)[Math.floor(pitches.length / 2)] ?? Number.NaN;
}

/** Returns the pitch of the first `length` samples, compared with the following ones; null if nothing repeats. */
function pitchOf(frame: Float32Array, length: number, rate: number): number | null {
  const shortest = Math.floor(rate / HIGHEST);
  const longest = Math.ceil(rate / LOWEST);
  const alike = Array.from({ length: longest + 1 }, (_, lag) =>
    lag < shortest ? 0 : likeness(frame, lag, length),
  );
  const most = Math.max(...alike);
  if (most < VOICED) return null;
  // Two periods match as well as one, so the shortest lag that is nearly as good is the period.
  const lag = alike.findIndex((value, at) => value > most * 0.9 && value >= (alike[at + 1] ?? 0));
  return rate / lag;
}

function likeness(frame: Float32Array, lag: number, length: number): number {
  let product = 0;
  let here = 0;
  let there = 0;
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [frame[at] ?? 0, frame[at + lag] ?? 0];
    product += one * other;
    here += one * one;
    there += other * other;
  }
  return product / Math.max(Math.sqrt(here * there), Number.EPSILON);
}
