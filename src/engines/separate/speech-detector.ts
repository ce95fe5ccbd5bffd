/** Detects speech with Silero VAD through sherpa-onnx, one window at a time. */
import { fileURLToPath } from 'node:url';
import type { WavReader } from '../media/wav.ts';
import type { Segment } from './segments.ts';

/** Window size of the network, 32 ms at 16 kHz. It supports no other size. */
export const VAD_WINDOW = 512;

/**
 * Settings tuned on speech under music at 10 dB: 3 to 9 % of the speech is missed, 3 to 8 % of the rest is taken for
 * speech.
 */
const THRESHOLD = 0.45;
const MIN_SILENCE_SECONDS = 0.3;
const MIN_SPEECH_SECONDS = 0.2;
/** Recognition processes one segment at a time, and its memory grows with the length. */
const MAX_SPEECH_SECONDS = 12;
/** Several times the longest segment. */
const BUFFER_SECONDS = 60;

interface Listening {
  readonly segments: readonly Segment[];
  /** Mean square of each window of 512 samples, where full scale is 1. */
  readonly energies: Float32Array;
}

/**
 * Finds the speech in a 16 kHz mono file and measures the loudness.
 * @param report receives the completed fraction
 */
export async function detectSpeech(mono: WavReader, report: (fraction: number) => void): Promise<Listening> {
  const { default: sherpa } = await import('sherpa-onnx-node');
  const detector = new sherpa.Vad(
    {
      sileroVad: {
        model: fileURLToPath(new URL('./silero_vad_v6.onnx', import.meta.url)),
        threshold: THRESHOLD,
        minSilenceDuration: MIN_SILENCE_SECONDS,
        minSpeechDuration: MIN_SPEECH_SECONDS,
        maxSpeechDuration: MAX_SPEECH_SECONDS,
        windowSize: VAD_WINDOW,
      },
      sampleRate: mono.sampleRate,
      numThreads: 1,
    },
    BUFFER_SECONDS,
  );
  const segments: Segment[] = [];
  const drain = () => {
    while (!detector.isEmpty()) {
      const { start, samples } = detector.front(false);
      segments.push({ start: start / mono.sampleRate, end: (start + samples.length) / mono.sampleRate });
      detector.pop();
    }
  };
  const energies = new Float32Array(Math.ceil(mono.frames / VAD_WINDOW));
  const window = new Float32Array(VAD_WINDOW);
  for (let index = 0; index < energies.length; index += 1) {
    const samples = await mono.read(index * VAD_WINDOW, VAD_WINDOW);
    energies[index] = toFloat(samples, window);
    detector.acceptWaveform(window);
    drain();
    if (index % 256 === 0) report(index / energies.length); // every 8 s of sound
  }
  detector.flush();
  drain();
  return { segments, energies };
}

/** Measures the loudness of a 16 kHz mono file like `detectSpeech`. */
export async function measureEnergies(mono: WavReader): Promise<Float32Array> {
  const energies = new Float32Array(Math.ceil(mono.frames / VAD_WINDOW));
  const window = new Float32Array(VAD_WINDOW);
  for (const index of energies.keys()) {
    energies[index] = toFloat(await mono.read(index * VAD_WINDOW, VAD_WINDOW), window);
  }
  return energies;
}

/** Converts to full scale 1 and returns the mean square. */
function toFloat(samples: Int16Array, into: Float32Array): number {
  let sum = 0;
  for (const [at, sample] of samples.entries()) {
    const value = sample / 32_768;
    into[at] = value;
    sum += value * value;
  }
  return sum / samples.length;
}
