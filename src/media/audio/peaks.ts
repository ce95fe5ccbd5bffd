/** Computes the outline of a sound: the peaks of its waveform and its loudness over time. */

import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { convertibleInput, DECODER_LIMITS, fileAddress, QUIET } from '../programs/arguments.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';
import { openWav, type WavReader } from './wav.ts';

/** Telephone rate: it keeps all speech, and an hour needs 58 MB of temporary space. */
const RATE = 8_000;
/** A fifth of a short syllable. */
const STEP_MS = 20;
const STEP_FRAMES = (RATE * STEP_MS) / 1000;
/** About the number of pixel columns of a wide screen. */
const PEAKS = 1_000;
/** Read at a time: ten seconds. */
const CHUNK_STEPS = 500;
/** A dub may be longer than any video of the service. A waveform of more than four hours would show no detail. */
const LONGEST_SECONDS = 4 * 3600;
/** The lowest level that 16 bits can distinguish from silence. */
const QUIETEST_DECIBELS = -96;

interface SoundOutline {
  readonly durationMs: number;
  /** Largest amplitude in each of up to 1,000 equal ranges, 0 to 255. */
  readonly peaks: Uint8Array;
  /** Mean level of each step in decibels below full scale, -96 to 0. */
  readonly loudness: { readonly stepMs: number; readonly decibels: Int8Array };
}

/**
 * Computes the outline of a file's first audio stream on the time line of its picture.
 * @param run `folder` is for temporary files, which are removed afterwards
 * @throws ProgramMissing, ChildFailure if the file cannot be decoded
 */
export async function outlineSound(programs: Programs, file: string, run: EngineRun): Promise<SoundOutline> {
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
  const filter = `aresample=${RATE}:async=1:first_pts=0`;
  const sound = ['-map', '0:a:0', '-t', String(LONGEST_SECONDS), '-af', filter, '-ac', '1'];
  return [
    ...QUIET,
    ...convertibleInput(file),
    ...sound,
    '-c:a',
    'pcm_s16le',
    '-f',
    'wav',
    fileAddress(output),
  ];
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

/** Returns the largest value of each of `PEAKS` equal ranges. A shorter sound keeps all its steps. */
function thin(swings: Uint8Array): Uint8Array {
  if (swings.length <= PEAKS) return swings;
  const stretch = swings.length / PEAKS;
  return Uint8Array.from({ length: PEAKS }, (_, at) =>
    Math.max(...swings.subarray(Math.floor(at * stretch), Math.floor((at + 1) * stretch))),
  );
}
