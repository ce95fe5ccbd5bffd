/** Clips of speech: reads, trims, cuts, resamples and stretches them. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileAddress, ownInput, QUIET } from '../programs/arguments.ts';
import type { Programs } from '../programs/programs.ts';
import type { Clip, EngineRun } from '../work.ts';
import type { Segment } from './segments.ts';
import { BYTES_PER_SAMPLE, createWav, parseWavHeader } from './wav.ts';

/** A quieter sample (of 32,768) counts as silence: the noise floor of a synthetic voice is far below. */
const SILENCE = 200;
/** Silence kept before the first and after the last sound, in seconds, so that no consonant is cut. */
const LEAD = 0.002;
const TAIL = 0.01;

/** Reads a whole 16-bit PCM WAV as mono: the mean of its channels. @throws Error if it is not such a file */
export function parseClip(wav: Buffer): Clip {
  const { sampleRate, channels, dataStart, dataBytes } = parseWavHeader(wav, wav.length);
  const samples = new Int16Array(Math.floor(dataBytes / (channels * BYTES_PER_SAMPLE)));
  let at = dataStart;
  for (let frame = 0; frame < samples.length; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) {
      sum += wav.readInt16LE(at);
      at += BYTES_PER_SAMPLE;
    }
    samples[frame] = Math.round(sum / channels);
  }
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

/** Returns at most the first `count` samples. */
export function cutClip({ samples, sampleRate }: Clip, count: number): Clip {
  return { samples: samples.slice(0, Math.max(0, count)), sampleRate };
}

/** A shorter silence may be part of a word, such as before a "t", in seconds. */
const PAUSE = 0.15;

/** Finds the pauses between words, in order, in seconds. */
export function findPauses({ samples, sampleRate }: Clip): Segment[] {
  const pauses: Segment[] = [];
  let from = 0;
  for (let at = 0; at <= samples.length; at += 1) {
    if (Math.abs(samples[at] ?? SILENCE) < SILENCE) continue;
    if (at - from >= PAUSE * sampleRate) pauses.push({ start: from / sampleRate, end: at / sampleRate });
    from = at + 1;
  }
  return pauses;
}

/** Lengthens or shortens silence that ends at some times. @param changes in order, in seconds */
export function changePauses(
  { samples, sampleRate }: Clip,
  changes: readonly { readonly at: number; readonly by: number }[],
): Clip {
  const frames = changes.map(
    ({ at, by }) => [Math.round(at * sampleRate), Math.round(by * sampleRate)] as const,
  );
  const changed = new Int16Array(frames.reduce((sum, [, by]) => sum + by, samples.length));
  let from = 0;
  let to = 0;
  for (const [at, by] of [...frames, [samples.length, 0] as const]) {
    // What is left out is before the end of the silence; what is put in is 0.
    changed.set(samples.subarray(from, at + Math.min(0, by)), to);
    to += at - from + by;
    from = at;
  }
  return { samples: changed, sampleRate };
}

/** Length of the fade of speech that ends before its sentence, in seconds: short, so that the last word stays whole. */
const FADE = 0.03;

/** Fades out the end of a clip. */
export function fadeOut({ samples, sampleRate }: Clip): Clip {
  const faded = samples.slice();
  const fade = Math.min(faded.length, Math.round(FADE * sampleRate));
  for (let at = 0; at < fade; at += 1) {
    const place = faded.length - fade + at;
    faded[place] = Math.round(((faded[place] ?? 0) * (fade - at)) / fade);
  }
  return { samples: faded, sampleRate };
}

/** Writes a clip as a WAV, for `parseClip`. */
export async function writeClip(path: string, { samples, sampleRate }: Clip): Promise<void> {
  const file = await createWav(path, { sampleRate, channels: 1 });
  await file.write(samples);
  await file.close();
}

/** `name` is for temporary files and must be unique among concurrent calls. */
interface Filtering extends EngineRun {
  readonly programs: Programs;
  readonly name: string;
}

/**
 * Changes the tempo of a clip without changing its pitch.
 * @param tempo 0.5 to 2: beyond, the filter skips samples
 */
export async function changeTempo(filtering: Filtering, clip: Clip, tempo: number): Promise<Clip> {
  const factor = Math.min(2, Math.max(0.5, tempo));
  return trimSilence(await filterClip(filtering, clip, ['-af', `atempo=${factor.toFixed(5)}`]));
}

/** Converts a clip to another sample rate. */
export function resampleClip(filtering: Filtering, clip: Clip, sampleRate: number): Promise<Clip> {
  return filterClip(filtering, clip, ['-ar', String(sampleRate)]);
}

async function filterClip(
  { programs, name, ...run }: Filtering,
  clip: Clip,
  filter: readonly string[],
): Promise<Clip> {
  const before = join(run.folder, `${name}.wav`);
  const after = join(run.folder, `${name}-filtered.wav`);
  await writeClip(before, clip);
  const args = [...QUIET, ...ownInput(before, 'wav'), ...filter, '-f', 'wav', fileAddress(after)];
  await programs.run('ffmpeg', args, run);
  const filtered = parseClip(await readFile(after));
  await Promise.all([rm(before), rm(after)]);
  return filtered;
}
