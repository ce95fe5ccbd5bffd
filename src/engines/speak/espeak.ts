/** One text through espeak-ng, and one clip through ffmpeg's time stretcher. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileAddress, ownInput, QUIET } from '../media/arguments.ts';
import { BYTES_PER_SAMPLE } from '../media/wav.ts';
import { createWav } from '../media/wav-file.ts';
import type { Programs } from '../programs.ts';
import { type Clip, parseClip, trimSilence } from './clip.ts';

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
