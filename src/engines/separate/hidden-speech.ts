/** Finds speech under music that is about as loud: detection misses it in the mix, and finds it in the denoised sound. */

import { computeMean } from '../../media/audio/samples.ts';
import { findPauses, joinSegments, type Segment } from '../../media/audio/segments.ts';
import {
  detectWithin,
  type Listening,
  MAX_SPEECH_SECONDS,
  VAD_WINDOW,
} from '../../media/audio/speech-detector.ts';
import type { WavReader } from '../../media/audio/wav.ts';

/** In denoised sound nothing but a voice is left, so that weaker signs of it suffice. */
const THRESHOLD = 0.25;
/** A pause of a speaker is shorter, in seconds. */
const LEAST_SECONDS = 1;
/** Detection in the mix misses no speech if the music is 6 dB quieter than the speech; then nothing more is done. */
const LOUD = 0.25;
/** Quieter sound (-60 dB) is no music to hide a voice. */
const AUDIBLE = 1e-6;

/**
 * Returns the given speech and the speech that is hidden between it.
 * @param denoised 48 kHz mono
 */
export async function addHiddenSpeech(
  denoised: WavReader,
  { segments, energies }: Listening,
): Promise<readonly Segment[]> {
  const voice = thirdRate(denoised);
  const stretches = loudStretches(segments, energies, VAD_WINDOW / voice.sampleRate);
  if (stretches.length === 0) return segments;
  const hidden = await detectWithin(voice, stretches, THRESHOLD);
  return hidden.length === 0 ? segments : joinSegments([...segments, ...hidden], MAX_SPEECH_SECONDS);
}

/**
 * Returns the stretches without speech in which music is about as loud as the speech elsewhere.
 * @param energies mean square of each window of sound
 * @param windowSeconds length of a window
 */
export function loudStretches(
  segments: readonly Segment[],
  energies: Float32Array,
  windowSeconds: number,
): Segment[] {
  const within = ({ start, end }: Segment) =>
    energies.subarray(Math.floor(start / windowSeconds), Math.ceil(end / windowSeconds));
  const speech = computeMean(segments.flatMap((segment) => [...within(segment)]));
  return findPauses(segments, energies.length * windowSeconds).filter(
    (pause) =>
      pause.end - pause.start >= LEAST_SECONDS &&
      computeMean(within(pause)) > Math.max(AUDIBLE, LOUD * speech),
  );
}

/** Low-pass filter for a third of the rate: a sinc with a Hann window, which fades out over about 3 kHz. */
const TAPS = 48;
/** The middle of the fade, 7.2 of 24 kHz: 16 kHz can represent sound up to 8 kHz, and more would be heard as another sound. */
const PASSED = 0.3;
const LOW_PASS = lowPass();

function lowPass(): Float32Array {
  const centre = (TAPS - 1) / 2;
  const taps = Float32Array.from({ length: TAPS }, (_, at) => {
    const x = (at - centre) * PASSED;
    return (
      (Math.sin(Math.PI * x) / (Math.PI * x)) * (0.5 + 0.5 * Math.cos((Math.PI * (at - centre)) / (TAPS / 2)))
    );
  });
  const sum = taps.reduce((total, tap) => total + tap, 0);
  return taps.map((tap) => tap / sum);
}

/** Reads mono sound at a third of its rate, 16 kHz from 48 kHz. */
export function thirdRate(sound: WavReader): WavReader {
  const read = async (position: number, count: number): Promise<Int16Array> => {
    const samples = await sound.read(3 * position - TAPS / 2, 3 * count + TAPS);
    return Int16Array.from({ length: count }, (_, at) => {
      let value = 0;
      for (let tap = 0; tap < TAPS; tap += 1) value += (LOW_PASS[tap] ?? 0) * (samples[3 * at + tap] ?? 0);
      return Math.max(-32_768, Math.min(32_767, Math.round(value)));
    });
  };
  return { ...sound, sampleRate: sound.sampleRate / 3, frames: Math.ceil(sound.frames / 3), read };
}
