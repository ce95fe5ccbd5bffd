/** Removes noise and music from the whole sound, and measures where the voice is. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { WavReader, WavWriter } from '../media/wav.ts';
import { CLICK_MARGIN, type Click, findClicks, withoutClicks } from './clicks.ts';
import { splitMidSide, sum, TINY, toInteger } from './samples.ts';
import type { Segment } from './segments.ts';

/** A whole number of frames of RNNoise, and of the slots in which clicks are looked for: 160 ms at 48 kHz. */
const BLOCK = 7_680;

export interface Denoised {
  /** In order of time. The denoised sound is without them. */
  readonly clicks: readonly Click[];
  /**
   * Returns the direction of the voice in a segment, in radians: 0 in the centre, π/4 on the left side only, -π/4 on the right.
   */
  direction(segment: Segment): number;
}

/**
 * Writes the sound without noise and music, as far as RNNoise can tell: the middle between the channels, as long as the input.
 * @param mix 48 kHz stereo
 * @param into 48 kHz mono
 * @param report receives the completed fraction
 */
export async function denoise(
  mix: WavReader,
  into: WavWriter,
  report: (fraction: number) => void,
): Promise<Denoised> {
  const denoiser = await createDenoiser();
  const clicks: Click[] = [];
  const clean = withoutClicks(mix, clicks);
  const frame = new Float32Array(DENOISER_FRAME);
  const mid = new Float32Array(BLOCK);
  const side = new Float32Array(BLOCK);
  const denoised = new Float32Array(BLOCK);
  const blocks = Math.ceil(mix.frames / BLOCK);
  const shares = { mid: new Float64Array(blocks), side: new Float64Array(blocks) };
  const look = async (position: number) => {
    const stereo = await mix.read(position - CLICK_MARGIN, BLOCK + 2 * CLICK_MARGIN);
    clicks.push(...findClicks(stereo, position));
  };
  const step = async (position: number) => {
    splitMidSide(await clean.read(position, DENOISER_FRAME), frame, null);
    denoiser.process(frame);
  };
  await look(0);
  for (let position = 0; position < DENOISER_DELAY; position += DENOISER_FRAME) await step(position);
  for (let block = 0; block < blocks; block += 1) {
    const start = block * BLOCK;
    await look(start + BLOCK); // the denoiser is ahead of the block
    for (let at = 0; at < BLOCK; at += DENOISER_FRAME) {
      await step(start + DENOISER_DELAY + at);
      denoised.set(frame, at);
    }
    splitMidSide(await clean.read(start, BLOCK), mid, side);
    for (let at = 0; at < BLOCK; at += DENOISER_FRAME) {
      const part = denoised.subarray(at, at + DENOISER_FRAME);
      const whole = mid.subarray(at, at + DENOISER_FRAME);
      // Where much was removed, some of the rest is music too.
      const weight = (product(part, part) / (product(whole, whole) + TINY)) ** 2;
      shares.mid[block] = (shares.mid[block] ?? 0) + weight * product(part, whole);
      shares.side[block] =
        (shares.side[block] ?? 0) + weight * product(part, side.subarray(at, at + DENOISER_FRAME));
    }
    await into.write(toInteger(denoised.subarray(0, Math.min(BLOCK, mix.frames - start))));
    report((block + 1) / blocks);
  }
  const direction = ({ start, end }: Segment) => {
    const from = Math.floor((start * mix.sampleRate) / BLOCK);
    const to = Math.ceil((end * mix.sampleRate) / BLOCK);
    return directionOf(sum(shares.mid.subarray(from, to)), sum(shares.side.subarray(from, to)));
  };
  return { clicks, direction };
}

/** A voice that is 2.6 dB louder in one channel still counts as centred: that much may come from the music. */
const CENTRED = 0.15;

/**
 * Computes the direction of a voice. Music that is not similar to the voice does not change it.
 * @param mid product of the voice and the sum of the channels
 * @param side product of the voice and their difference
 */
function directionOf(mid: number, side: number): number {
  if (mid <= 0) return 0;
  const angle = Math.atan2(side, mid);
  return Math.abs(angle) < CENTRED ? 0 : Math.max(-Math.PI / 4, Math.min(Math.PI / 4, angle));
}

function product(a: Float32Array, b: Float32Array): number {
  let total = 0;
  for (let at = 0; at < a.length; at += 1) total += (a[at] ?? 0) * (b[at] ?? 0);
  return total;
}

/** Samples that RNNoise processes at a time, 10 ms at 48 kHz. */
const DENOISER_FRAME = 480;
/** Delay of its output in samples, measured by correlation. */
const DENOISER_DELAY = 480;
/** RNNoise works on numbers in the range of 16-bit samples. */
const FULL_SCALE = 32_768;

interface Denoiser {
  /** Denoises one frame of full scale 1, in place. The output belongs 480 samples earlier. */
  process(frame: Float32Array): void;
}

/** Loads RNNoise. The variant with a separate WebAssembly file is 2.5 times as fast as the single script. */
async function createDenoiser(): Promise<Denoiser> {
  const { default: createRnnoise } = await import('@jitsi/rnnoise-wasm/dist/rnnoise.js');
  const path = createRequire(import.meta.url).resolve('@jitsi/rnnoise-wasm/dist/rnnoise.wasm');
  const rnnoise = await createRnnoise({ wasmBinary: await readFile(path) });
  const state = rnnoise._rnnoise_create(0);
  const address = rnnoise._malloc(DENOISER_FRAME * Float32Array.BYTES_PER_ELEMENT);
  const first = address / Float32Array.BYTES_PER_ELEMENT;
  return {
    process(frame) {
      // Read each time, because the memory moves when it grows.
      const memory = rnnoise.HEAPF32.subarray(first, first + DENOISER_FRAME);
      for (let at = 0; at < DENOISER_FRAME; at += 1) memory[at] = (frame[at] ?? 0) * FULL_SCALE;
      rnnoise._rnnoise_process_frame(state, address, address);
      for (let at = 0; at < DENOISER_FRAME; at += 1) frame[at] = (memory[at] ?? 0) / FULL_SCALE;
    },
  };
}
