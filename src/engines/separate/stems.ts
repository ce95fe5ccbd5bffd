/** Splits sound into vocals and background, block by block, so that memory does not grow with the length. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { WavReader, WavWriter } from '../media/wav.ts';
import { createFloor, createSurveyor } from './background.ts';
import { partSamples, splitMidSide, toInteger } from './samples.ts';
import { type Segment, segmentFinder } from './segments.ts';
import { BINS, createTransform, HOP, type Spectrum, WINDOW } from './spectrum.ts';

/** The least common multiple of a hop (512) and a frame of RNNoise (480): 160 ms at 48 kHz. */
const BLOCK = 7_680;
/** Samples that a spectrum includes before the newest hop. */
const HISTORY = WINDOW - HOP;

interface StemInput {
  /** The sound to split, 48 kHz stereo. */
  readonly mix: WavReader;
  /** The part of it that contains the voice, in the same format: the centre channel of surround sound, or all of it. */
  readonly source: WavReader;
  readonly segments: readonly Segment[];
  /** How far to mask each segment, 0 to 1. */
  readonly weights: readonly number[];
}

interface StemOutput {
  readonly vocals: WavWriter;
  readonly background: WavWriter;
  /** Mono, for recognition; null if it is not needed. */
  readonly voice: WavWriter | null;
}

/**
 * Writes the stems of a whole file. Vocals and background add up to the input, sample for sample.
 * @param report receives the completed fraction
 */
export async function splitStems(
  input: StemInput,
  output: StemOutput,
  report: (fraction: number) => void,
): Promise<void> {
  const { mix } = input;
  const split = await createBlockSplitter(input);
  const total = mix.frames + HISTORY; // the last samples are complete only after the window has passed them
  for (let start = 0; start < total; start += BLOCK) {
    const block = await split(start);
    // The output is HISTORY samples behind the input, so the first samples are before the start of the file.
    const skip = Math.max(0, HISTORY - start);
    const count = Math.min(BLOCK, mix.frames + HISTORY - start) - skip;
    if (count > 0) await writeBlock(mix, output, block, { from: start - HISTORY + skip, skip, count });
    report(Math.min(1, start / total));
  }
}

interface Block {
  readonly mid: Float32Array;
  readonly side: Float32Array;
  readonly voice: Float32Array;
}

/**
 * Returns a function that takes each start of a block, in order, and returns the finished voice of the block that ended
 * HISTORY samples earlier.
 */
async function createBlockSplitter({
  source: mix,
  segments,
  weights,
}: StemInput): Promise<(start: number) => Promise<Block>> {
  const denoise = await createAlignedDenoiser(mix);
  const transform = createTransform();
  const findSegment = segmentFinder(segments);
  const mid = new Float32Array(HISTORY + BLOCK);
  const side = new Float32Array(HISTORY + BLOCK);
  const sums: Block = { mid: overlapBuffer(), side: overlapBuffer(), voice: overlapBuffer() };
  const mixed = new Float64Array(2 * WINDOW);
  const voice = new Float64Array(2 * WINDOW);
  const mask = new Float32Array(BINS);
  const gains = { first: new Float32Array(BINS), second: new Float32Array(BINS) };
  const keepBackground = createFloor();
  const survey = createSurveyor(mix, segments);
  let weight = weights[0] ?? 0; // any weight works before the first segment

  return async (start) => {
    for (const sum of Object.values(sums)) shiftOut(sum);
    const denoised = await denoise(start);
    splitMidSide(await mix.read(start - HISTORY, HISTORY + BLOCK), mid, side);
    for (let offset = 0; offset < BLOCK; offset += HOP) {
      const time = (start - HISTORY + offset + WINDOW / 2) / mix.sampleRate;
      const segment = findSegment(time);
      weight = weights[segment] ?? weight;
      transform.forward(mid, side, offset, mixed);
      if (weight > 0) {
        transform.forward(denoised, null, offset, voice);
        voiceMask(mixed, voice, mask);
      }
      if (segment >= 0) {
        vocalGains(mask, weight, gains.first);
        gains.second.set(gains.first);
        keepBackground(await survey(segment), time, mixed, gains);
        transform.addInverse(mixed, gains, sums.mid, sums.side, offset);
      }
      recognitionGains(mask, weight, gains.first);
      transform.addInverse(mixed, { first: gains.first, second: gains.first }, sums.voice, null, offset);
    }
    return sums;
  };
}

/**
 * Returns the denoised mid signal, aligned with the input: for each block, the HISTORY samples before it and the block.
 */
async function createAlignedDenoiser(mix: WavReader): Promise<(start: number) => Promise<Float32Array>> {
  const denoiser = await createDenoiser();
  const frame = new Float32Array(DENOISER_FRAME);
  const denoised = new Float32Array(HISTORY + BLOCK);
  const step = async (position: number) => {
    splitMidSide(await mix.read(position, DENOISER_FRAME), frame, null);
    denoiser.process(frame);
  };
  for (let position = 0; position < DENOISER_DELAY; position += DENOISER_FRAME) await step(position);
  return async (start) => {
    denoised.copyWithin(0, BLOCK);
    for (let at = 0; at < BLOCK; at += DENOISER_FRAME) {
      await step(start + DENOISER_DELAY + at);
      denoised.set(frame, HISTORY + at);
    }
    return denoised;
  };
}

/**
 * Creates a buffer for sums of overlapping windows: first a finished block, then HISTORY samples that later windows
 * still add to.
 */
function overlapBuffer(): Float32Array {
  return new Float32Array(BLOCK + HISTORY);
}

function shiftOut(sum: Float32Array): void {
  sum.copyWithin(0, BLOCK);
  sum.fill(0, HISTORY);
}

async function writeBlock(
  mix: WavReader,
  output: StemOutput,
  block: Block,
  range: { from: number; skip: number; count: number },
): Promise<void> {
  const original = await mix.read(range.from, range.count);
  const vocals = new Int16Array(original.length);
  const background = new Int16Array(original.length);
  partSamples(block.mid, block.side, range.skip, original, vocals, background);
  await output.vocals.write(vocals);
  await output.background.write(background);
  await output.voice?.write(toInteger(block.voice.subarray(range.skip, range.skip + range.count)));
}

/** Samples that RNNoise processes at a time, 10 ms at 48 kHz. */
const DENOISER_FRAME = 480;
/** Delay of its output in samples, measured by correlation. */
const DENOISER_DELAY = 960;
/** RNNoise works on numbers in the range of 16-bit samples. */
const FULL_SCALE = 32_768;

interface Denoiser {
  /** Denoises one frame of full scale 1, in place. The output belongs 960 samples earlier. */
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

/** Avoids division by zero in silence. Far below the smallest 16-bit sample. */
const TINY = 1e-12;

/**
 * Computes the mask of one spectrum, 0 to 1 for each frequency: how centred the frequency is in the stereo image, where
 * voices are mixed, times the root of the share that RNNoise keeps. With mono input everything is centred.
 * @param mixed spectrum of `mid + i·side`
 * @param voice spectrum of the denoised mid signal
 */
function voiceMask(mixed: Spectrum, voice: Spectrum, into: Float32Array): void {
  for (let bin = 0; bin < BINS; bin += 1) {
    // One spectrum contains two real signals: the even part belongs to the first, the odd part to the second.
    const mirror = bin === 0 ? 0 : WINDOW - bin;
    const re = mixed[2 * bin] ?? 0;
    const im = mixed[2 * bin + 1] ?? 0;
    const mirrorRe = mixed[2 * mirror] ?? 0;
    const mirrorIm = mixed[2 * mirror + 1] ?? 0;
    const mid = ((re + mirrorRe) ** 2 + (im - mirrorIm) ** 2) / 4;
    const side = ((re - mirrorRe) ** 2 + (im + mirrorIm) ** 2) / 4;
    const centre = Math.max(0, (mid - side) / (mid + side + TINY));
    const passed = Math.hypot(voice[2 * bin] ?? 0, voice[2 * bin + 1] ?? 0);
    const stopped = Math.max(0, Math.sqrt(mid) - passed);
    into[bin] = centre * Math.sqrt(passed / (passed + stopped + TINY));
  }
}

/** Recognition is worse on a voice with gaps, so its mask never falls below this. Tuned by word error rates. */
const RECOGNITION_FLOOR = 0.2;

/** Computes gains for the vocal track: the mask, faded towards 1 by `weight` (0: no masking). */
function vocalGains(mask: Float32Array, weight: number, into: Float32Array): void {
  for (let bin = 0; bin < BINS; bin += 1) into[bin] = 1 - weight * (1 - (mask[bin] ?? 0));
}

/** Computes gains for the voice track for recognition: the same, but not below the floor. */
function recognitionGains(mask: Float32Array, weight: number, into: Float32Array): void {
  for (let bin = 0; bin < BINS; bin += 1) {
    into[bin] = 1 - weight * (1 - Math.max(RECOGNITION_FLOOR, mask[bin] ?? 0));
  }
}
