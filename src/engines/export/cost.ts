/** Estimates the memory and the time that encoding a picture takes, and refuses what does not fit. */

import { totalmem } from 'node:os';
import { describeDuration } from '../../errors/amounts.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { ENCODER_LIMITS } from '../media/arguments.ts';
import type { Programs } from '../programs.ts';
import { type EncodedPicture, type PictureSize, scaledSize } from './picture.ts';

/**
 * What encoding costs, measured with ffmpeg 5.1 on 2 cores of an AMD EPYC, with noise in the picture, which is harder to
 * encode than films. Sizes are in millions of pixels, memory is address space in MiB.
 *
 * Standard: 1080p with 1 and 8 threads 483 and 1,697 MiB, 4K with 2 and 16 threads 1,499 and 3,999, 8K with 1 and 2
 * threads 3,633 and 4,378; 0.03 s of processor time for a million pixels. HDR: 1080p with 4 threads 1,576 MiB, 4K with 4
 * threads 2,846; 0.09 s.
 */
const COSTS = {
  sdr: {
    memory: 300,
    memoryOfSource: 10,
    memoryOfResult: 60,
    thread: { memory: 100, ofSource: 4.5, ofResult: 14.5 },
    secondsOfSource: 0.005,
    secondsOfResult: 0.03,
  },
  hdr: {
    memory: 600,
    memoryOfSource: 20,
    memoryOfResult: 120,
    thread: { memory: 165, ofSource: 9, ofResult: 29 },
    secondsOfSource: 0.01,
    secondsOfResult: 0.09,
  },
} as const;

/** The rest is for decoders that keep many frames, and for sound. */
const USABLE_SHARE = 0.85;
/** More threads make the encoder hardly faster. */
const MOST_THREADS = 8;
/** Of videos whose header does not contain it. */
const USUAL_FRAME_RATE = 30;

/** What an export may use. */
export interface EncodingRoom {
  readonly cores: number;
  /** Of the machine, in bytes. */
  readonly memory: number;
}

/** Returns the number of threads for the decoder and for the encoder; 0 if even one needs too much memory. */
export function planThreads(picture: EncodedPicture, { cores, memory }: EncodingRoom): number {
  const cost = COSTS[picture.hdr === null ? 'sdr' : 'hdr'];
  const source = megapixels(picture.source);
  const result = megapixels(picture.size);
  const usable = (Math.min(memory, ENCODER_LIMITS.memoryBytes) / 2 ** 20) * USABLE_SHARE;
  const fixed = cost.memory + source * cost.memoryOfSource + result * cost.memoryOfResult;
  const { thread } = cost;
  const each = thread.memory + source * thread.ofSource + result * thread.ofResult;
  return Math.max(0, Math.min(cores, MOST_THREADS, Math.floor((usable - fixed) / each)));
}

/** Returns what this machine, or the container that this process runs in, has. */
export function thisMachine({ parallel }: Pick<Programs, 'parallel'>): EncodingRoom {
  // 0 without a limit; some systems answer with a number above all memory.
  return { cores: parallel, memory: Math.min(totalmem(), process.constrainedMemory() || Infinity) };
}

interface Length {
  /** Of the video. */
  readonly seconds: number;
  /** 0 if it is unknown. */
  readonly frameRate: number;
  /** How long encoding may take. Infinity without a deadline. */
  readonly allowedSeconds: number;
}

/**
 * Checks whether the memory, and the time if a length is given, suffice for an encoding.
 * @returns the number of threads for the decoder and for the encoder
 * @throws JobFailure MEDIA_UNSUPPORTED with a resolution that fits, if there is one
 */
export function requireRoom(
  picture: EncodedPicture,
  machine: EncodingRoom,
  length: Length | null = null,
): number {
  const reason = explainRoom(picture, machine, length);
  if (reason === null) return planThreads(picture, machine);
  const smaller = (['1080p', '720p', '480p'] as const).find((resolution) => {
    const size = scaledSize(picture.source, resolution);
    const isSmaller = size !== null && megapixels(size) < megapixels(picture.size);
    return isSmaller && explainRoom({ ...picture, size }, machine, length) === null;
  });
  const fits = smaller === undefined ? '' : `choose the resolution ${smaller}, which fits, or `;
  const message = `${reason}; ${fits}leave the picture as it is: without burned subtitles and with the resolution of the source`;
  throw new JobFailure('MEDIA_UNSUPPORTED', message);
}

function explainRoom(picture: EncodedPicture, machine: EncodingRoom, length: Length | null): string | null {
  const { width, height } = picture.size;
  const what = `a picture of ${width} × ${height} pixels${picture.hdr === null ? '' : ' in HDR'}`;
  const threads = planThreads(picture, machine);
  if (threads === 0) return `encoding ${what} needs more memory than an export may use here`;
  if (length === null) return null;
  const rate = length.frameRate || USUAL_FRAME_RATE;
  const needed = encodingSeconds(picture, length.seconds * rate, threads);
  if (needed <= length.allowedSeconds) return null;
  const long = `${describeDuration(length.seconds * 1000)} at ${Math.round(rate)} frames per second`;
  return `encoding ${what}, ${long}, would take about ${describeDuration(needed * 1000)} here, longer than a job may take`;
}

/** Returns how many seconds encoding takes on a machine like the one of the measurements. */
function encodingSeconds(picture: EncodedPicture, frames: number, threads: number): number {
  const cost = COSTS[picture.hdr === null ? 'sdr' : 'hdr'];
  const each =
    megapixels(picture.source) * cost.secondsOfSource + megapixels(picture.size) * cost.secondsOfResult;
  return (frames * each) / threads;
}

function megapixels({ width, height }: PictureSize): number {
  return (width * height) / 1e6;
}
