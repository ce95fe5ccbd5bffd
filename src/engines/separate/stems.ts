/** Splits sound into vocals and background, block by block, so that memory does not grow with the length. */

import { partSamples, splitMidSide, TINY, toFloat, toInteger } from '../../media/audio/samples.ts';
import { type Segment, SPEECH_MARGIN, segmentFinder } from '../../media/audio/segments.ts';
import type { WavReader, WavWriter } from '../../media/audio/wav.ts';
import { createFloor, createSurveyor } from './background.ts';
import { type Apart, voiceAcross } from './panning.ts';
import { BINS, createTransform, HOP, type Spectrum, turnSpectrum, WINDOW } from './spectrum.ts';

/** A whole number of hops, 160 ms at 48 kHz. */
const BLOCK = 7_680;
/** Samples that a spectrum includes before the newest hop. */
const HISTORY = WINDOW - HOP;

export interface StemInput {
  /** The sound to split, 48 kHz stereo. */
  readonly mix: WavReader;
  /** The part of it that contains the voice, in the same format: the centre channel of surround sound, or all of it. */
  readonly source: WavReader;
  /** The same sound without noise and music, 48 kHz mono. */
  readonly denoised: WavReader;
  readonly segments: readonly Segment[];
  /** How far to mask each segment, 0 to 1. */
  readonly weights: readonly number[];
  /** Where the voice of each segment is, in radians: 0 in the centre, π/4 on the left. */
  readonly directions: readonly number[];
  /** For each segment: where voice and music are, if they can be distinguished. Then nothing has to be masked. */
  readonly apart: readonly (Apart | null)[];
}

interface StemOutput {
  readonly vocals: WavWriter;
  readonly background: WavWriter;
  /** Mono, for recognition; null if it is not needed. */
  readonly voice: WavWriter | null;
}

/** A part of a file that is split on its own: blocks from `first` to before `end`. */
export interface Part {
  readonly first: number;
  readonly end: number;
}

/** Divides a file into equal parts. Their stems together are those of the whole file, sample for sample. */
export function divideFrames(frames: number, parts: number): Part[] {
  const blocks = Math.ceil((frames + HISTORY) / BLOCK); // the last samples are complete after the window has passed them
  const border = (index: number) => Math.round((blocks * index) / parts);
  return Array.from({ length: parts }, (_, index) => ({ first: border(index), end: border(index + 1) }));
}

/** Returns the first frame of the stems of a part. */
export function firstFrame({ first }: Part): number {
  return Math.max(0, first * BLOCK - HISTORY);
}

/**
 * Writes the stems of a part of a file. Vocals and background add up to the input, sample for sample.
 * @param report receives the completed fraction
 */
export async function splitStems(
  input: StemInput,
  output: StemOutput,
  { first, end }: Part,
  report: (fraction: number) => void,
): Promise<void> {
  const { mix } = input;
  // Windows of the block before reach into the first block.
  const begin = Math.max(0, first - 1);
  const split = createBlockSplitter(input, begin * BLOCK, output.voice !== null);
  for (let index = begin; index < end; index += 1) {
    const start = index * BLOCK;
    const block = await split(start);
    // The output is HISTORY samples behind the input, so the first samples are before the start of the file.
    const skip = Math.max(0, HISTORY - start);
    const count = Math.min(BLOCK, mix.frames + HISTORY - start) - skip;
    if (index >= first && count > 0) {
      await writeBlock(mix, output, block, { from: start - HISTORY + skip, skip, count });
    }
    report((index - begin) / (end - begin));
  }
}

interface Block {
  readonly mid: Float32Array;
  readonly side: Float32Array;
  readonly voice: Float32Array;
}

/**
 * Returns a function that takes each start of a block, in order from `begin` on, and returns the finished voice of the block
 * that ended HISTORY samples earlier.
 */
function createBlockSplitter(
  { source: mix, denoised: denoisedMix, segments, weights, directions, apart }: StemInput,
  begin: number,
  withVoice: boolean,
): (start: number) => Promise<Block> {
  const transform = createTransform();
  const findSegment = segmentFinder(segments);
  const mid = new Float32Array(HISTORY + BLOCK);
  const side = new Float32Array(HISTORY + BLOCK);
  const denoised = new Float32Array(HISTORY + BLOCK);
  const sums: Block = { mid: overlapBuffer(), side: overlapBuffer(), voice: overlapBuffer() };
  const mixed = new Float64Array(2 * WINDOW);
  const voice = new Float64Array(2 * WINDOW);
  const mask = new Float32Array(BINS);
  const gains = { first: new Float32Array(BINS), second: new Float32Array(BINS) };
  const across = new Float32Array(WINDOW);
  const keepBackground = createFloor();
  const surveyor = createSurveyor(mix, segments, directions);
  // Those of the segment before; before the first one, any values work.
  const time = (begin - HISTORY + WINDOW / 2) / mix.sampleRate;
  const before = Math.max(
    0,
    segments.findLastIndex(({ start }) => start - SPEECH_MARGIN <= time),
  );
  let weight = weights[before] ?? 0;
  let direction = directions[before] ?? 0;

  return async (start) => {
    for (const sum of Object.values(sums)) shiftOut(sum);
    toFloat(await denoisedMix.read(start - HISTORY, HISTORY + BLOCK), denoised);
    splitMidSide(await mix.read(start - HISTORY, HISTORY + BLOCK), mid, side);
    for (let offset = 0; offset < BLOCK; offset += HOP) {
      const time = (start - HISTORY + offset + WINDOW / 2) / mix.sampleRate;
      const segment = findSegment(time);
      if (segment < 0 && !withVoice) continue;
      weight = weights[segment] ?? weight;
      direction = directions[segment] ?? direction;
      const places = apart[segment] ?? null;
      if (places !== null) {
        voiceAcross(places, { mid, side }, offset, across);
        transform.forward(across, SILENCE, 0, mixed);
        transform.addInverse(mixed, { ...ALL, turn: -places.voice }, sums.mid, sums.side, offset);
        if (withVoice) transform.addInverse(mixed, ALL, sums.voice, null, offset);
        continue;
      }
      const survey = segment < 0 ? null : await surveyor(segment);
      transform.forward(mid, side, offset, mixed);
      if (direction !== 0) turnSpectrum(mixed, direction);
      if (weight > 0) {
        transform.forwardReal(denoised, offset, voice);
        voiceMask(mixed, voice, { share: Math.cos(direction), isWide: survey?.isWide === true }, mask);
      }
      if (survey !== null) {
        maskGains(mask, weight, 0, gains.first);
        gains.second.set(gains.first);
        keepBackground(survey, time, mixed, gains);
        transform.addInverse(mixed, { ...gains, turn: -direction }, sums.mid, sums.side, offset);
      }
      if (!withVoice) continue;
      maskGains(mask, weight, RECOGNITION_FLOOR, gains.first);
      transform.addInverse(mixed, { first: gains.first, second: gains.first }, sums.voice, null, offset);
    }
    return sums;
  };
}

const SILENCE = new Float32Array(WINDOW);
/** Gains that change nothing. */
const ALL = { first: new Float32Array(BINS).fill(1), second: new Float32Array(BINS).fill(1) };

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

/**
 * Computes the mask of one spectrum, 0 to 1 for each frequency: how much of the frequency comes from the direction of the
 * voice, times the root of the share that RNNoise keeps. With mono input everything comes from there.
 * @param mixed spectrum of `mid + i·side`, turned so that the voice is in the middle
 * @param voice spectrum of the denoised middle between the channels, which contains `share` of the voice
 * @param isWide whether the voice comes from several directions
 */
function voiceMask(
  mixed: Spectrum,
  voice: Spectrum,
  { share, isWide }: { share: number; isWide: boolean },
  into: Float32Array,
): void {
  for (let bin = 0; bin < BINS; bin += 1) {
    // One spectrum contains two real signals: the even part belongs to the first, the odd part to the second.
    const mirror = bin === 0 ? 0 : WINDOW - bin;
    const re = mixed[2 * bin] ?? 0;
    const im = mixed[2 * bin + 1] ?? 0;
    const mirrorRe = mixed[2 * mirror] ?? 0;
    const mirrorIm = mixed[2 * mirror + 1] ?? 0;
    const mid = ((re + mirrorRe) ** 2 + (im - mirrorIm) ** 2) / 4;
    const side = ((re - mirrorRe) ** 2 + (im + mirrorIm) ** 2) / 4;
    const centre = isWide ? 1 : Math.max(0, (mid - side) / (mid + side + TINY));
    const passed = Math.sqrt((voice[2 * bin] ?? 0) ** 2 + (voice[2 * bin + 1] ?? 0) ** 2) / share;
    const stopped = Math.max(0, Math.sqrt(mid) - passed);
    into[bin] = centre * Math.sqrt(passed / (passed + stopped + TINY));
  }
}

/** Recognition is worse on a voice with gaps, so its mask never falls below this. Tuned by word error rates. */
const RECOGNITION_FLOOR = 0.2;

/** Computes gains: the mask, but not below `floor`, faded towards 1 by `weight` (0: no masking). */
function maskGains(mask: Float32Array, weight: number, floor: number, into: Float32Array): void {
  for (let bin = 0; bin < BINS; bin += 1) into[bin] = 1 - weight * (1 - Math.max(floor, mask[bin] ?? 0));
}
