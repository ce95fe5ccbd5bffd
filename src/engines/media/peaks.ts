/** The outline of a sound: what a waveform is drawn from, and how loud it is from moment to moment. */
import { mkdtemp, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Programs } from '../programs.ts';
import { DECODER_LIMITS, fileAddress, ownInput, QUIET, untrustedInput } from './arguments.ts';
import { openWav, type WavReader } from './wav.ts';

/** Telephone rate: speech is all there, and an hour of it takes 58 MB of scratch space. */
const RATE = 8_000;
/** A fifth of a short syllable. */
const STEP_MS = 20;
const STEP_FRAMES = (RATE * STEP_MS) / 1000;
/** As many as a wide screen has columns for it. */
const PEAKS = 1_000;
/** Read at a time: ten seconds. */
const CHUNK_STEPS = 500;
/** A dub may be longer than any video of the service; beyond four hours a picture of it shows nothing. */
const LONGEST_SECONDS = 4 * 3600;
/** What 16 bits cannot tell from silence. */
const QUIETEST_DECIBELS = -96;

export interface SoundOutline {
  readonly durationMs: number;
  /** Greatest swing of each of up to 1,000 equal stretches, 0 to 255. */
  readonly peaks: Uint8Array;
  /** Mean level of each step in decibels below full scale, -96 to 0. */
  readonly loudness: { readonly stepMs: number; readonly decibels: Int8Array };
}

/**
 * Outlines the first sound stream of a file on the time line of its picture.
 * @param run `folder` takes scratch files, which are gone afterwards
 * @throws ProgramMissing, ChildFailure for a file that cannot be decoded
 */
export async function outlineSound(
  programs: Programs,
  file: string,
  run: { readonly signal: AbortSignal; readonly folder: string },
): Promise<SoundOutline> {
  const folder = await mkdtemp(join(run.folder, 'outline-'));
  try {
    const path = join(folder, 'sound.wav');
    await programs.run('ffmpeg', decodeArguments(file, path), { ...run, folder, limits: DECODER_LIMITS });
    const wav = await openWav(path);
    try {
      return await outline(wav);
    } finally {
      await wav.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function decodeArguments(file: string, output: string): string[] {
  // Results come from outside as much as inputs do: the ending decides what a file may be, not its content.
  const isWav = extname(file).toLowerCase() === '.wav';
  const input = isWav ? ownInput(file, 'wav') : untrustedInput(file);
  const filter = `aresample=${RATE}:async=1:first_pts=0`;
  const sound = ['-map', '0:a:0', '-t', String(LONGEST_SECONDS), '-af', filter, '-ac', '1'];
  return [...QUIET, ...input, ...sound, '-c:a', 'pcm_s16le', '-f', 'wav', fileAddress(output)];
}

async function outline(wav: WavReader): Promise<SoundOutline> {
  const steps = Math.ceil(wav.frames / STEP_FRAMES);
  const swings = new Uint8Array(steps);
  const decibels = new Int8Array(steps);
  for (let first = 0; first < steps; first += CHUNK_STEPS) {
    const count = Math.min(CHUNK_STEPS, steps - first);
    const samples = await wav.read(first * STEP_FRAMES, count * STEP_FRAMES);
    for (let step = 0; step < count; step += 1) {
      const { swing, level } = measure(samples.subarray(step * STEP_FRAMES, (step + 1) * STEP_FRAMES));
      swings[first + step] = swing;
      decibels[first + step] = level;
    }
  }
  const durationMs = Math.round((wav.frames / RATE) * 1000);
  return { durationMs, peaks: thin(swings), loudness: { stepMs: STEP_MS, decibels } };
}

const FULL_SCALE = 32_768;

function measure(samples: Int16Array): { swing: number; level: number } {
  let greatest = 0;
  let power = 0;
  for (const sample of samples) {
    greatest = Math.max(greatest, Math.abs(sample));
    power += sample * sample;
  }
  const mean = Math.sqrt(power / samples.length) / FULL_SCALE;
  const level = Math.max(QUIETEST_DECIBELS, Math.round(20 * Math.log10(mean)));
  return { swing: Math.round((greatest / FULL_SCALE) * 255), level };
}

/** The greatest of each of `PEAKS` equal stretches; a sound shorter than that keeps its steps. */
function thin(swings: Uint8Array): Uint8Array {
  if (swings.length <= PEAKS) return swings;
  const stretch = swings.length / PEAKS;
  return Uint8Array.from({ length: PEAKS }, (_, at) =>
    Math.max(...swings.subarray(Math.floor(at * stretch), Math.floor((at + 1) * stretch))),
  );
}
