import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Separation, separateSound } from '../../../src/engines/separate/separate.ts';
import { createWork, ffmpeg, speechClip, stepEngines } from '../workspace.ts';
import { level, samplesOf } from './sound.ts';

const CLIP = speechClip('0880');
const SECONDS = 6;
/** About 22 dB below the speech: a level at which nothing is masked. */
const STEREO_TONES =
  '0.004*sin(2*PI*330*t)+0.003*sin(2*PI*1320*t)|0.004*sin(2*PI*220*t)+0.003*sin(2*PI*1760*t)';
const MONO_TONES = '0.004*sin(2*PI*330*t)+0.003*sin(2*PI*1320*t)';

/** The share of one sound that is in another, 0 to 1: its projection. */
function presence(of: Int16Array, within: Int16Array): number {
  const common = of.reduce((sum, value, at) => sum + value * (within[at] ?? 0), 0);
  return common / of.reduce((sum, value) => sum + value * value, 0);
}

/** Writes speech from 2 s on, `music` beside it, and a video with both. */
function makeMix(folder: string, music: string): { mix: string; speech: string } {
  const speech = join(folder, 'speech.wav');
  const mix = join(folder, 'mix.mov');
  const pcm = ['-c:a', 'pcm_s16le', '-ar', '48000'];
  const voice = `aresample=48000,adelay=2000,apad=whole_dur=${SECONDS},pan=stereo|c0=c0|c1=c0`;
  ffmpeg('-i', CLIP, '-af', voice, ...pcm, speech);
  ffmpeg(
    ...['-f', 'lavfi', '-i', `color=black:s=16x16:r=1:d=${SECONDS}`, '-i', speech],
    ...['-f', 'lavfi', '-i', `aevalsrc='${music}':s=48000:d=${SECONDS}`],
    ...['-filter_complex', '[2]aformat=channel_layouts=stereo[m];[1][m]amix=inputs=2:normalize=0[a]'],
    ...['-map', '0:v', '-map', '[a]', '-c:v', 'mjpeg', ...pcm, mix],
  );
  return { mix, speech };
}

describe.each([
  ['stereo', STEREO_TONES],
  ['mono', MONO_TONES],
])('faint %s music under speech', (_, tones) => {
  let folder = '';
  let speech: Int16Array;
  let vocals: Int16Array;
  let background: Int16Array;
  let separation: Separation;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'vloc-test-'));
    const made = makeMix(folder, tones);
    speech = samplesOf(made.speech);
    separation = await separateSound(await stepEngines(), made.mix, false, createWork(folder));
    vocals = samplesOf(separation.vocals);
    background = samplesOf(separation.background);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('is as loud there as in the pauses, within 3 dB', () => {
    expect(separation.segments.length).toBeGreaterThan(0);
    const paused = level(background, 0.5, 1.5);
    for (const { start, end } of separation.segments) {
      expect(Math.abs(level(background, start, end) - paused)).toBeLessThan(3);
    }
  });

  test('neither swells nor drops by 6 dB where the speech begins and ends', () => {
    const paused = level(background, 0.5, 1.5);
    for (const border of separation.segments.flatMap(({ start, end }) => [start, end])) {
      for (let from = border - 0.4; from < border + 0.3; from += 0.1) {
        expect(Math.abs(level(background, from, from + 0.2) - paused)).toBeLessThan(6);
      }
    }
  });

  test('contains almost nothing of the voice', () => {
    expect(presence(speech, background)).toBeLessThan(0.08);
    expect(presence(speech, vocals)).toBeGreaterThan(0.92);
  });
});
