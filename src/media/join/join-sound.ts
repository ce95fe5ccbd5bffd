/** Joins pieces of sound, each at its exact sample position: those of a cut video without clicks at the seams, dubs by mixing. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createWav, openWav, type WavFormat, type WavReader, type WavWriter } from '../audio/wav.ts';
import { PCM, SAMPLE_RATE } from '../encode/encoders.ts';
import { DECODER_LIMITS, fileAddress, ownInput, QUIET } from '../programs/arguments.ts';
import { explainFailures } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import { SAMPLES_BEHIND } from '../split/limits.ts';
import type { Work } from '../work.ts';
import { mixTracks, type Track } from './mix-sound.ts';

export interface Piece {
  /** A 16-bit WAV file with the sample rate and channels of the result. */
  readonly path: string;
  /** Samples per channel from the start of this piece to the start of the next one. */
  readonly frames: number;
}

/**
 * A seam is smoothed over this many samples on each side: 5 ms at 48 kHz, too short to be audible as a separate sound.
 */
const SEAM_FRAMES = 240;
/**
 * Two AAC frames of a part continue over the start of the next part, the first of them without mixing: an encoder codes
 * the first two frames after its start badly.
 */
const SOUND_ON_SECONDS = 2_048 / SAMPLE_RATE;
const ALONE = 0.5;
/**
 * If a service trims the sound to the length of the picture, only encoder padding is left after the boundary: up to two
 * AAC frames. That is less than three quarters of the extra sound that was sent with the parts.
 */
const TRUSTED_SECONDS = (0.75 * SAMPLES_BEHIND) / SAMPLE_RATE;
/** One second per block. */
const BLOCK_FRAMES = 48_000;

/**
 * Appends the pieces to a WAV. A piece that is too short is followed by silence. Sound after the boundary of a piece is faded out,
 * and steps at the seams are smoothed.
 */
export async function appendPieces(pieces: readonly Piece[], out: WavWriter): Promise<void> {
  let tail = new Int16Array(0);
  let behind = new Int16Array(0);
  for (const [index, piece] of pieces.entries()) {
    const wav = await openWav(piece.path);
    try {
      const held = index < pieces.length - 1 ? Math.min(SEAM_FRAMES, piece.frames) : 0;
      let at = 0;
      if (tail.length > 0) {
        const length = Math.max(SEAM_FRAMES, behind.length / out.channels);
        const head = (await wav.read(0, Math.min(length, piece.frames - held))).slice();
        carryOver(behind, head, out.channels, ALONE);
        smoothSeam(tail, head, out.channels);
        await out.write(tail);
        await out.write(head);
        at = head.length / out.channels;
      }
      for (; at < piece.frames - held; at += BLOCK_FRAMES) {
        await out.write(await wav.read(at, Math.min(BLOCK_FRAMES, piece.frames - held - at)));
      }
      tail = (await wav.read(piece.frames - held, held)).slice();
      behind = await soundBehind(wav, piece.frames);
    } finally {
      await wav.close();
    }
  }
}

/**
 * Reads the extra sound after the boundary that the part was sent with. Returns an empty array if the service removed
 * it.
 */
async function soundBehind(wav: WavReader, border: number): Promise<Int16Array<ArrayBuffer>> {
  const isThere = wav.frames - border >= TRUSTED_SECONDS * wav.sampleRate;
  return (await wav.read(border, isThere ? Math.round(SOUND_ON_SECONDS * wav.sampleRate) : 0)).slice();
}

/**
 * A step is audible if it is this many times as large as the largest step near it. Compared with the mean step instead,
 * one seam in sixteen would be changed in room noise, whose samples vary strongly.
 */
const LOUD_STEP = 1.5;

/**
 * Smooths the seam between two parts if it would click: the correction is largest at the seam and falls to zero on both
 * sides. Seams that are already smooth stay unchanged.
 * @param tail interleaved samples before the seam, changed in place
 * @param head interleaved samples after the seam, changed in place
 * @returns whether any channel was changed
 */
export function smoothSeam(tail: Int16Array, head: Int16Array, channels: number): boolean {
  const frames = Math.min(tail.length, head.length) / channels;
  let changed = false;
  for (let channel = 0; channel < channels; channel += 1) {
    const before = (back: number) => tail[tail.length - (back + 1) * channels + channel] ?? 0;
    const behind = (at: number) => head[at * channels + channel] ?? 0;
    let largest = 0;
    for (let at = 2; at < frames; at += 1) {
      const left = stepTo(before(at), before(at - 1), before(at - 2));
      const right = stepTo(behind(at), behind(at - 1), behind(at - 2));
      largest = Math.max(largest, Math.abs(left), Math.abs(right));
    }
    const step = stepTo(behind(0), before(0), before(1));
    if (Math.abs(step) <= LOUD_STEP * largest + 1) continue;
    changed = true;
    for (let at = 0; at < frames; at += 1) {
      const share = 0.25 * (1 + Math.cos((Math.PI * (at + 0.5)) / frames)); // from one half to zero
      const left = tail.length - (at + 1) * channels + channel;
      tail[left] = limit(before(at) + step * share);
      head[at * channels + channel] = limit(behind(at) - step * share);
    }
  }
  return changed;
}

/** Returns the difference between a sample and the value that the two samples before it predict. */
function stepTo(sample: number, previous: number, earlier: number): number {
  return sample - (2 * previous - earlier);
}

/**
 * Continues the sound of one part over the beginning of the next part, which its encoder coded badly because it had no
 * earlier sound. The first samples are replaced, then the sound fades into the next part. The fade is linear because
 * both parts have the same sound there: an equal-power fade would raise it by 3 dB.
 * @param behind interleaved samples after the end of the previous part; empty if there are none (do not pass silence)
 * @param head interleaved samples of the next part, changed in place
 * @param alone share of `behind` that is used without mixing, 0 to 1
 */
export function carryOver(behind: Int16Array, head: Int16Array, channels: number, alone: number): void {
  const frames = behind.length / channels;
  const held = frames * alone;
  for (let at = 0; at < Math.min(behind.length, head.length); at += 1) {
    const share = Math.max(0, (Math.floor(at / channels) + 0.5 - held) / (frames - held));
    head[at] = limit((behind[at] ?? 0) * (1 - share) + (head[at] ?? 0) * share);
  }
}

/** Limits a sum of samples to 16 bits. */
function limit(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}

export interface WavResult {
  readonly path: string;
  /** Start of the part in the whole video, in seconds. */
  readonly startSeconds: number;
}

/**
 * Writes one 16-bit WAV with the sample rate and channels of the first part.
 * @param endSeconds length of the whole
 * @param manner `cut` for stems of a video, which are as long as the parts of the video; `mix` for dubs, which may overlap
 * @returns the path of `NAME` in the work folder
 */
export async function joinWavs(
  programs: Programs,
  results: readonly WavResult[],
  task: { readonly endSeconds: number; readonly manner: 'cut' | 'mix'; readonly name: string },
  work: Work,
): Promise<string> {
  return explainFailures('the sound of the parts cannot be joined', async () => {
    // The format of the first part.
    let format: WavFormat | null = null;
    const pieces: (Piece & Track)[] = [];
    for (const [index, { path, startSeconds }] of results.entries()) {
      const decoded = join(work.folder, `piece-${index}.wav`);
      const form = format === null ? [] : ['-ar', String(format.sampleRate), '-ac', String(format.channels)];
      const sound = ['-map', '0:a:0', ...form, ...PCM, fileAddress(decoded)];
      const args = [...QUIET, ...ownInput(path, 'wav'), ...sound];
      await programs.run('ffmpeg', args, { ...work, limits: DECODER_LIMITS });
      format ??= await readFormat(decoded);
      const end = results[index + 1]?.startSeconds ?? task.endSeconds;
      const from = sampleAt(format, startSeconds);
      pieces.push({ path: decoded, from, frames: sampleAt(format, end) - from });
      work.report((index + 1) / (results.length + 1));
    }
    if (format === null) throw new Error('there are no parts to join');
    const path = join(work.folder, task.name);
    const out = await createWav(path, format);
    const joining =
      task.manner === 'cut'
        ? appendPieces(pieces, out)
        : mixTracks(pieces, sampleAt(format, task.endSeconds), out);
    await joining.finally(() => out.close());
    await Promise.all(pieces.map((piece) => rm(piece.path)));
    return path;
  });
}

async function readFormat(path: string): Promise<WavFormat> {
  const { sampleRate, channels, close } = await openWav(path);
  await close();
  return { sampleRate, channels };
}

function sampleAt({ sampleRate }: WavFormat, seconds: number): number {
  return Math.round(seconds * sampleRate);
}
