import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Separation, separateSound } from '../../../src/engines/separate/separate.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createWork, ffmpeg, speechClip, stepEngines } from '../workspace.ts';
import { samplesOf } from './sound.ts';

const CLIP = speechClip('0880');
/** Louder than the speech in the sum of all channels; on the left and on the right. */
const TONES =
  '0.05*sin(2*PI*330*t)+0.05*sin(2*PI*1320*t)+0.05*sin(2*PI*523*t)|0.05*sin(2*PI*220*t)+0.05*sin(2*PI*1760*t)+0.05*sin(2*PI*587*t)';
/** What becomes of the centre channel in stereo; source: ITU-R BS.775, scaled so that no sum exceeds full scale. */
const CENTRE_GAIN = Math.SQRT1_2 / (1 + 2 * Math.SQRT1_2);

/** The share of one sound that is in another, 0 to 1: its projection. */
function presence(of: Int16Array, within: Int16Array, gain: number): number {
  const common = of.reduce((sum, value, at) => sum + value * (within[at] ?? 0), 0);
  return common / gain / of.reduce((sum, value) => sum + value * value, 0);
}

interface Made {
  readonly separation: Separation;
  readonly mix: string;
  readonly speech: Int16Array;
}

/** @param layout arguments of `pan` for the mix, from left and right tones (c0, c1) and speech (c2) */
async function separateLayout(folder: string, layout: string): Promise<Made> {
  const speech = join(folder, 'speech.wav');
  const mix = join(folder, 'mix.mov');
  const pcm = ['-c:a', 'pcm_s16le', '-ar', '48000'];
  ffmpeg('-i', CLIP, '-af', 'aresample=48000,adelay=700,pan=stereo|c0=c0|c1=c0', ...pcm, speech);
  const graph = `[1][2]amerge=inputs=2,pan=3c|c0=c0|c1=c1|c2=c2,pan=5.1|${layout}[a]`;
  ffmpeg(
    ...[
      '-f',
      'lavfi',
      '-i',
      'color=black:s=16x16:r=1:d=4',
      '-f',
      'lavfi',
      '-i',
      `aevalsrc='${TONES}':s=48000:d=4`,
    ],
    ...['-i', speech, '-filter_complex', graph, '-map', '0:v', '-map', '[a]', '-c:v', 'mjpeg', ...pcm, mix],
  );
  const separation = await separateSound(await stepEngines(), mix, true, createWork(folder));
  return { separation, mix, speech: samplesOf(speech) };
}

test('of surround sound with the voice in the centre channel, the voice becomes the vocals, the tones of the others become the background, and both add up to the sound in stereo, sample for sample', async () => {
  const layout = 'FL=c0|FR=c1|FC=c2|BL=0.5*c0|BR=0.5*c1';
  const { separation, mix, speech } = await separateLayout(makeFolder(), layout);
  expect(separation.segments).toHaveLength(1);
  expect(separation.segments[0]?.start).toBeGreaterThan(0.7);
  expect(separation.segments[0]?.end).toBeLessThan(4);
  const [vocals, background] = [samplesOf(separation.vocals), samplesOf(separation.background)];
  expect(presence(speech, vocals, CENTRE_GAIN)).toBeGreaterThan(0.95);
  expect(presence(speech, vocals, CENTRE_GAIN)).toBeLessThan(1.05);
  expect(Math.abs(presence(speech, background, CENTRE_GAIN))).toBeLessThan(0.05);
  const input = samplesOf(mix);
  expect(input.every((sample, at) => (vocals[at] ?? 0) + (background[at] ?? 0) === sample)).toBe(true);
});

test('surround sound whose centre channel is a faint copy of the voice is separated as a whole', async () => {
  const folder = makeFolder();
  const { separation, speech } = await separateLayout(folder, 'FL=c2|FR=c2|FC=0.01*c2');
  const vocals = samplesOf(separation.vocals);
  expect(separation.segments).toHaveLength(1);
  expect(presence(speech, vocals, CENTRE_GAIN / Math.SQRT1_2)).toBeGreaterThan(0.9);
});
