/** Spoken clips: one text through espeak-ng, one clip through the time stretcher of ffmpeg. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileAddress, ownInput, QUIET } from '../media/arguments.ts';
import { BYTES_PER_SAMPLE, createWav, parseWavHeader } from '../media/wav.ts';
import type { Programs } from '../programs.ts';

export interface Clip {
  readonly samples: Int16Array;
  readonly sampleRate: number;
}

/** Quieter than this (of 32,768) counts as silence: the noise floor of a synthetic voice is far below. */
const SILENCE = 200;
/** Kept before the first and after the last sound, in seconds, so that no consonant is cut. */
const LEAD = 0.002;
const TAIL = 0.01;

/** Reads a WAV as espeak-ng streams it: its header names a length of 2 GiB. @throws Error when it is no WAV */
export function parseClip(wav: Buffer): Clip {
  const { sampleRate, dataStart, dataBytes } = parseWavHeader(wav, wav.length);
  const samples = new Int16Array(dataBytes >> 1);
  for (let at = 0; at < samples.length; at += 1) samples[at] = wav.readInt16LE(dataStart + 2 * at);
  return { samples, sampleRate };
}

/** Without the silence at both ends; empty when there is nothing else. */
export function trimSilence({ samples, sampleRate }: Clip): Clip {
  const isSound = (sample: number) => Math.abs(sample) >= SILENCE;
  const first = samples.findIndex(isSound);
  if (first < 0) return { samples: new Int16Array(0), sampleRate };
  const last = samples.findLastIndex(isSound);
  const from = Math.max(0, first - Math.round(LEAD * sampleRate));
  const to = Math.min(samples.length, last + 1 + Math.round(TAIL * sampleRate));
  return { samples: samples.slice(from, to), sampleRate };
}

/** Length in seconds. */
export function clipSeconds({ samples, sampleRate }: Clip): number {
  return samples.length / sampleRate;
}

/** How long the end of a clip that must be cut is faded out, in seconds, so that it does not click. */
const FADE = 0.01;

/** The first `count` samples; faded out when some are cut off. */
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

/** What espeak-ng speaks at, in samples a second. */
export const ESPEAK_RATE = 22_050;

/** The longest text of one cue, spoken slowly, lasts some six minutes. */
const MAX_CLIP_BYTES = 600 * ESPEAK_RATE * BYTES_PER_SAMPLE;

export interface Speaking {
  readonly programs: Programs;
  readonly voice: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Speaks a text at a rate in words a minute; silence at both ends is cut off. The text goes through stdin: as an argument
 * it could be taken for an option.
 */
export async function speakText(speaking: Speaking, text: string, rate: number): Promise<Clip> {
  // Two opening brackets begin phonemes in place of text.
  const plain = text.replaceAll(/[[\]]+/g, ' ');
  const args = ['-v', speaking.voice, '-s', String(rate), '-z', '-b', '1', '--stdin', '--stdout'];
  const { folder, signal } = speaking;
  const stdin = { text: `${plain}\n` };
  const options = { folder, signal, stdin, maxStdoutBytes: MAX_CLIP_BYTES };
  return trimSilence(parseClip(await speaking.programs.run('espeak-ng', args, options)));
}

/** Speeds a clip up without changing its pitch. `name` is for temporary files, unique among those made at a time. */
export async function speedUp(speaking: Speaking, clip: Clip, tempo: number, name: string): Promise<Clip> {
  const before = join(speaking.folder, `${name}.wav`);
  const after = join(speaking.folder, `${name}-faster.wav`);
  const file = await createWav(before, { sampleRate: clip.sampleRate, channels: 1 });
  await file.write(clip.samples);
  await file.close();
  const args = [
    ...QUIET,
    ...ownInput(before, 'wav'),
    '-af',
    tempoFilter(tempo),
    '-f',
    'wav',
    fileAddress(after),
  ];
  await speaking.programs.run('ffmpeg', args, speaking);
  const faster = trimSilence(parseClip(await readFile(after)));
  await Promise.all([rm(before), rm(after)]);
  return faster;
}

/** Above a factor of 2 the filter would leave samples out, so it is chained. */
function tempoFilter(tempo: number): string {
  const filters: string[] = [];
  let rest = tempo;
  for (; rest > 2; rest /= 2) filters.push('atempo=2');
  filters.push(`atempo=${rest.toFixed(5)}`);
  return filters.join(',');
}
