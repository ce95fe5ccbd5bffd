/** Removes noise and music from the whole sound, and measures where the voice is. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { STEM_FORMAT } from '../../media/audio/decode-audio.ts';
import { addValues, splitMidSide, TINY, toInteger } from '../../media/audio/samples.ts';
import type { Segment } from '../../media/audio/segments.ts';
import type { WavReader, WavWriter } from '../../media/audio/wav.ts';
import { CLICK_MARGIN, type Click, findClicks, withoutClicks } from './clicks.ts';
import { type Apart, findApart, type Powers } from './panning.ts';
import type { Part } from './stems.ts';

/** A whole number of frames of RNNoise, and of the slots in which clicks are looked for: 160 ms at 48 kHz. */
const BLOCK = 7_680;
/** A part is at least 20 s long, so that the warm-up is at most a tenth of the work. */
const PART_BLOCKS = 125;
/**
 * Blocks before a part that RNNoise hears first, 1.92 s, because its output depends on what it heard before. Seconds of the
 * denoised sound then differ by -15 to -50 dB from those of a whole file, with 10 s by -16 to -48 dB. The vocals of speech over
 * music 3 dB quieter differ by -38 dB in one minute, by -28 dB in five; their SI-SDR is the same, 7.7 dB.
 */
const WARM_UP_BLOCKS = 12;

/** Measurements of one part. */
export interface DenoisedPart {
  /** In order of time. The denoised sound is without them. */
  readonly clicks: readonly Click[];
  /** Products of the voice with the sum of the channels, and with their difference, for each block. */
  readonly mid: Float64Array;
  readonly side: Float64Array;
  readonly powers: Powers;
}

export interface Denoised {
  /** In order of time. */
  readonly clicks: readonly Click[];
  /**
   * Returns the direction of the voice in a segment, in radians: 0 in the centre, π/4 on the left side only, -π/4 on the right.
   */
  direction(segment: Segment): number;
  /** Returns where voice and music are in a segment of all `segments`, if they can be distinguished, else null. */
  apart(segment: Segment, segments: readonly Segment[]): Apart | null;
}

/**
 * Divides a file into parts that are denoised on their own. The result depends on the division, so the division depends only
 * on the length of the file.
 */
export function divideToDenoise(frames: number): Part[] {
  const blocks = Math.ceil(frames / BLOCK);
  const parts = Math.max(1, Math.floor(blocks / PART_BLOCKS));
  const border = (index: number) => Math.round((blocks * index) / parts);
  return Array.from({ length: parts }, (_, index) => ({ first: border(index), end: border(index + 1) }));
}

/** Returns the first frame of the denoised sound of a part. */
export function firstDenoised({ first }: Part): number {
  return first * BLOCK;
}

/**
 * Writes a part of the sound without noise and music, as far as RNNoise detects it: the middle between the channels.
 * @param mix 48 kHz stereo, the whole sound
 * @param into 48 kHz mono, at the first frame of the part
 * @param report receives the completed fraction
 */
export async function denoiseSound(
  mix: WavReader,
  into: WavWriter,
  { first, end }: Part,
  report: (fraction: number) => void,
): Promise<DenoisedPart> {
  const denoiser = await createDenoiser();
  const clicks: Click[] = [];
  const own: Click[] = [];
  const clean = withoutClicks(mix, clicks);
  const frame = new Float32Array(DENOISER_FRAME);
  const mid = new Float32Array(BLOCK);
  const side = new Float32Array(BLOCK);
  const denoised = new Float32Array(BLOCK);
  const shares = { mid: new Float64Array(end - first), side: new Float64Array(end - first) };
  const powers = emptyPowers(end - first);
  const look = async (block: number) => {
    const position = block * BLOCK;
    const found = findClicks(await mix.read(position - CLICK_MARGIN, BLOCK + 2 * CLICK_MARGIN), position);
    clicks.push(...found);
    if (block >= first && block < end) own.push(...found);
  };
  const step = (stereo: Int16Array) => {
    splitMidSide(stereo, frame, null);
    denoiser.process(frame);
  };
  const begin = Math.max(0, first - WARM_UP_BLOCKS);
  await look(begin);
  step(await clean.read(begin * BLOCK, DENOISER_DELAY));
  for (let block = begin; block < end; block += 1) {
    const start = block * BLOCK;
    await look(block + 1); // the denoiser is ahead of the block
    const ahead = await clean.read(start + DENOISER_DELAY, BLOCK);
    for (let at = 0; at < BLOCK; at += DENOISER_FRAME) {
      step(ahead.subarray(2 * at, 2 * (at + DENOISER_FRAME)));
      denoised.set(frame, at);
    }
    if (block < first) continue;
    splitMidSide(await clean.read(start, BLOCK), mid, side);
    const place = block - first;
    powers.mid[place] = product(mid, mid);
    powers.side[place] = product(side, side);
    powers.both[place] = product(mid, side);
    for (let at = 0; at < BLOCK; at += DENOISER_FRAME) {
      const part = denoised.subarray(at, at + DENOISER_FRAME);
      const whole = mid.subarray(at, at + DENOISER_FRAME);
      // Where much was removed, some of the rest is music too.
      const weight = (product(part, part) / (product(whole, whole) + TINY)) ** 2;
      shares.mid[place] = (shares.mid[place] ?? 0) + weight * product(part, whole);
      shares.side[place] =
        (shares.side[place] ?? 0) + weight * product(part, side.subarray(at, at + DENOISER_FRAME));
    }
    await into.write(toInteger(denoised.subarray(0, Math.min(BLOCK, mix.frames - start))));
    report((block + 1 - begin) / (end - begin));
  }
  return { clicks: own, ...shares, powers };
}

function emptyPowers(blocks: number): Powers {
  return { mid: new Float64Array(blocks), side: new Float64Array(blocks), both: new Float64Array(blocks) };
}

/** Joins what was measured in all parts of a 48 kHz file, in order. */
export function joinDenoised(parts: readonly DenoisedPart[]): Denoised {
  const join = (of: (part: DenoisedPart) => Float64Array) =>
    Float64Array.from(parts.flatMap((part) => [...of(part)]));
  const mid = join((part) => part.mid);
  const side = join((part) => part.side);
  const powers = {
    mid: join((part) => part.powers.mid),
    side: join((part) => part.powers.side),
    both: join((part) => part.powers.both),
  };
  const direction = ({ start, end }: Segment) => {
    const from = Math.floor((start * STEM_FORMAT.sampleRate) / BLOCK);
    const to = Math.ceil((end * STEM_FORMAT.sampleRate) / BLOCK);
    return directionOf(addValues(mid.slice(from, to)), addValues(side.slice(from, to)));
  };
  return {
    clicks: parts.flatMap(({ clicks }) => clicks),
    direction,
    apart: (segment, segments) => findApart(segment, segments, powers, BLOCK / STEM_FORMAT.sampleRate),
  };
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
