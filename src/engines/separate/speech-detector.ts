/** Where speech is: Silero VAD through sherpa-onnx, fed window by window. */
import { fileURLToPath } from 'node:url';
import type { WavReader } from '../media/wav.ts';
import type { Segment } from './segments.ts';

/** Samples that the network looks at together, 32 ms at 16 kHz; it knows no other size. */
export const VAD_WINDOW = 512;

/** Settings found on speech under music at 10 dB: 3 to 9 % of it missed, 3 to 8 % of the rest taken for speech. */
const THRESHOLD = 0.45;
const MIN_SILENCE_SECONDS = 0.3;
const MIN_SPEECH_SECONDS = 0.2;
/** Recognition takes a segment at a time, and its memory grows with the length. */
const MAX_SPEECH_SECONDS = 12;
/** Holds the longest segment several times over. */
const BUFFER_SECONDS = 60;

interface Listening {
  readonly segments: readonly Segment[];
  /** Mean square of each window of 512 samples, full scale being 1. */
  readonly energies: Float32Array;
}

/**
 * Finds the speech in a 16 kHz mono file and measures its loudness on the way.
 * @param report takes the fraction done
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

/** Converts to full scale 1 and gives the mean square. */
function toFloat(samples: Int16Array, into: Float32Array): number {
  let sum = 0;
  for (const [at, sample] of samples.entries()) {
    const value = sample / 32_768;
    into[at] = value;
    sum += value * value;
  }
  return sum / samples.length;
}
