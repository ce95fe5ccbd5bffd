/** Measures the pitch and the level of a voice, to notice that two recordings are not of the same speaker. */
import { computeMean } from './samples.ts';
import type { WavReader } from './wav.ts';

export interface Voice {
  /** Median pitch in Hz; null if too little of it is voiced. */
  readonly pitch: number | null;
  /** Mean level of the speech, in decibels below full scale; null for silence. */
  readonly level: number | null;
}

/** A range of time, in milliseconds. */
export type TimeRange = readonly [startMs: number, endMs: number];

/** Sample rate of the analysis, in Hz: enough for the pitch of all voices, and quick. */
const RATE = 8_000;
/** Length and distance of windows, in samples of the analysis: two periods of the deepest voice, every 10 ms. */
const WINDOW = 320;
const HOP = 80;
/** Pitches of speech, in Hz. */
const LOWEST = 60;
const HIGHEST = 500;
/** Correlation from which a window is voiced, and share of the best at which a shorter period wins: its multiples fit as well. */
const VOICED = 0.6;
const NEARLY_BEST = 0.9;
/** Quieter windows are silence, in decibels below full scale; pauses are this much quieter than the loudest window. */
const SILENCE = -55;
const PAUSE = -25;
/** Fewer voiced windows say little: 0.2 s. */
const LEAST_VOICED = 20;
/** Windows measured at most, spread evenly: the median of more is the same. */
const MOST_WINDOWS = 3_000;

/** Measures the voice in these ranges. Other sounds in them count as voice, so the sound must be speech only. */
export async function measureVoice(wav: WavReader, ranges: readonly TimeRange[]): Promise<Voice> {
  const starts = windowsIn(ranges);
  const step = Math.max(1, starts.length / MOST_WINDOWS);
  const windows: { readonly energy: number; readonly pitch: number | null }[] = [];
  for (let at = 0; at < starts.length; at += step) {
    const samples = await readWindow(wav, starts[Math.floor(at)] ?? 0);
    const energy = computeMean(samples.map((sample) => sample * sample));
    windows.push({ energy, pitch: decibels(energy) > SILENCE ? findPitch(samples) : null });
  }
  const loudest = decibels(Math.max(0, ...windows.map(({ energy }) => energy)));
  const spoken = windows.filter(({ energy }) => decibels(energy) > Math.max(SILENCE, loudest + PAUSE));
  const pitches = spoken.flatMap(({ pitch }) => pitch ?? []).toSorted((one, other) => one - other);
  return {
    pitch: pitches.length < LEAST_VOICED ? null : (pitches[pitches.length >> 1] ?? null),
    level: spoken.length === 0 ? null : decibels(computeMean(spoken.map(({ energy }) => energy))),
  };
}

function decibels(energy: number): number {
  return 10 * Math.log10(energy + Number.MIN_VALUE);
}

/** Starts of the windows that lie in the ranges, in samples of the analysis. */
function windowsIn(ranges: readonly TimeRange[]): number[] {
  return ranges.flatMap(([startMs, endMs]) => {
    const first = Math.round((startMs * RATE) / 1000);
    const count = Math.floor(((endMs - startMs) * RATE) / 1000 / HOP - WINDOW / HOP) + 1;
    return Array.from({ length: Math.max(0, count) }, (_, at) => first + at * HOP);
  });
}

/** Reads a window as mono at the rate of the analysis: the mean of the samples is filter enough for the pitch. */
async function readWindow(wav: WavReader, start: number): Promise<Float32Array> {
  const ratio = wav.sampleRate / RATE;
  const first = Math.round(start * ratio);
  const samples = await wav.read(first, Math.ceil(WINDOW * ratio));
  return Float32Array.from({ length: WINDOW }, (_, at) => {
    const from = Math.floor(at * ratio) * wav.channels;
    const to = Math.max(from + wav.channels, Math.floor((at + 1) * ratio) * wav.channels);
    let sum = 0;
    for (let place = from; place < to; place += 1) sum += samples[place] ?? 0;
    return sum / (to - from) / 32_768;
  });
}

/** Pitch of a window by normalized autocorrelation; null if it is not voiced. */
function findPitch(samples: Float32Array): number | null {
  const shortest = Math.floor(RATE / HIGHEST);
  const longest = Math.ceil(RATE / LOWEST);
  const fits: number[] = [];
  for (let lag = shortest; lag <= longest; lag += 1) {
    let product = 0;
    let energy = 0;
    for (let at = 0; at + lag < WINDOW; at += 1) {
      const [one, other] = [samples[at] ?? 0, samples[at + lag] ?? 0];
      product += one * other;
      energy += one * one + other * other;
    }
    fits.push(energy === 0 ? 0 : (2 * product) / energy);
  }
  const best = Math.max(...fits);
  if (best < VOICED) return null;
  const isPeak = (fit: number, at: number) => fit >= (fits[at - 1] ?? 1) && fit >= (fits[at + 1] ?? 1);
  const found = fits.findIndex((fit, at) => fit >= NEARLY_BEST * best && isPeak(fit, at));
  return found < 0 ? null : RATE / (shortest + found);
}
