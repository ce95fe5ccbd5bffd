/** Clips of speech: reads, trims, cuts, resamples and speeds them up. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clip, EngineRun } from '../backend.ts';
import { fileAddress, ownInput, QUIET } from '../media/arguments.ts';
import { createWav, parseWavHeader } from '../media/wav.ts';
import type { Programs } from '../programs.ts';

/** A quieter sample (of 32,768) counts as silence: the noise floor of a synthetic voice is far below. */
const SILENCE = 200;
/** Silence kept before the first and after the last sound, in seconds, so that no consonant is cut. */
const LEAD = 0.002;
const TAIL = 0.01;

/** Reads a WAV as espeak-ng streams it: its header declares a length of 2 GiB. @throws Error if it is not a WAV */
export function parseClip(wav: Buffer): Clip {
  const { sampleRate, dataStart, dataBytes } = parseWavHeader(wav, wav.length);
  const samples = new Int16Array(dataBytes >> 1);
  for (let at = 0; at < samples.length; at += 1) samples[at] = wav.readInt16LE(dataStart + 2 * at);
  return { samples, sampleRate };
}

/** Removes the silence at both ends. Returns an empty clip if there is no other sound. */
export function trimSilence({ samples, sampleRate }: Clip): Clip {
  const isSound = (sample: number) => Math.abs(sample) >= SILENCE;
  const first = samples.findIndex(isSound);
  if (first < 0) return { samples: new Int16Array(0), sampleRate };
  const last = samples.findLastIndex(isSound);
  const from = Math.max(0, first - Math.round(LEAD * sampleRate));
  const to = Math.min(samples.length, last + 1 + Math.round(TAIL * sampleRate));
  return { samples: samples.slice(from, to), sampleRate };
}

/** Returns the length in seconds. */
export function clipSeconds({ samples, sampleRate }: Clip): number {
  return samples.length / sampleRate;
}

/** Length of the fade-out of a clip that is cut, in seconds, so that it does not click. */
const FADE = 0.01;

/** Returns the first `count` samples, faded out if samples are cut off. */
export function cutClip({ samples, sampleRate }: Clip, count: number): Clip {
  if (samples.length <= count) return { samples, sampleRate };
  const kept = samples.slice(0, Math.max(0, count));
  const fade = Math.min(kept.length, Math.round(FADE * sampleRate));
  for (let at = 0; at < fade; at += 1) {
    const place = kept.length - fade + at;
    kept[place] = Math.round(((kept[place] ?? 0) * (fade - at)) / fade);
  }
  return { samples: kept, sampleRate };
}

/** `name` is for temporary files and must be unique among concurrent calls. */
interface Filtering extends EngineRun {
  readonly programs: Programs;
  readonly name: string;
}

/** Speeds up a clip without changing its pitch. */
export async function speedUp(filtering: Filtering, clip: Clip, tempo: number): Promise<Clip> {
  return trimSilence(await filterClip(filtering, clip, ['-af', tempoFilter(tempo)]));
}

/** Converts a clip to another sample rate. */
export function resample(filtering: Filtering, clip: Clip, sampleRate: number): Promise<Clip> {
  return filterClip(filtering, clip, ['-ar', String(sampleRate)]);
}

async function filterClip(
  { programs, name, ...run }: Filtering,
  clip: Clip,
  filter: readonly string[],
): Promise<Clip> {
  const before = join(run.folder, `${name}.wav`);
  const after = join(run.folder, `${name}-filtered.wav`);
  const file = await createWav(before, { sampleRate: clip.sampleRate, channels: 1 });
  await file.write(clip.samples);
  await file.close();
  const args = [...QUIET, ...ownInput(before, 'wav'), ...filter, '-f', 'wav', fileAddress(after)];
  await programs.run('ffmpeg', args, run);
  const filtered = parseClip(await readFile(after));
  await Promise.all([rm(before), rm(after)]);
  return filtered;
}

/** Above a factor of 2 the filter would skip samples, so it is chained. */
function tempoFilter(tempo: number): string {
  const filters: string[] = [];
  let rest = tempo;
  for (; rest > 2; rest /= 2) filters.push('atempo=2');
  filters.push(`atempo=${rest.toFixed(5)}`);
  return filters.join(',');
}
