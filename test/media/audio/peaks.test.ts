import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { outlineSound } from '../../../src/media/audio/peaks.ts';
import { ChildFailure } from '../../../src/media/programs/failures.ts';
import { createWork, ffmpeg, programs, SAMPLE } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

test('an outline shows where the sound of a video is, how loud, and its whole length, and no file remains', async () => {
  const folder = makeFolder();
  const file = join(folder, 'tone.mov');
  // A second of silence, a second at half of full scale, a second of silence.
  const tone = "aevalsrc='0.5*sin(2*PI*440*t)*between(t,1,2)':d=3:s=48000";
  const picture = ['-f', 'lavfi', '-i', 'color=s=64x48:r=5:d=3', '-c:v', 'mjpeg'];
  ffmpeg('-f', 'lavfi', '-i', tone, ...picture, '-c:a', 'pcm_s16le', file);
  const { durationMs, peaks, loudness } = await outlineSound(programs, file, createWork(folder));
  expect(durationMs).toBe(3000);
  expect(peaks).toHaveLength(150);
  expect(loudness.decibels).toHaveLength(150);
  expect([peaks[20], peaks[130]]).toEqual([0, 0]);
  expect(peaks[75]).toBeGreaterThan(124);
  expect(peaks[75]).toBeLessThan(132);
  // Half of full scale is 6 dB below it, and the mean of a sine another 3.
  expect(loudness.decibels[75]).toBe(-9);
  expect(loudness.decibels[20]).toBe(-96);
  expect(readdirSync(folder)).toEqual(['tone.mov']);
});

test('a long sound keeps its loudest moments among a thousand peaks', async () => {
  const folder = makeFolder();
  const file = join(folder, 'click.wav');
  ffmpeg('-f', 'lavfi', '-i', "aevalsrc='0.9*sin(2*PI*440*t)*between(t,20.041,20.059)':d=30:s=8000", file);
  const { peaks } = await outlineSound(programs, file, createWork(folder));
  expect(peaks).toHaveLength(1000);
  const loudest = peaks.indexOf(Math.max(...peaks));
  expect(peaks[loudest]).toBeGreaterThan(200);
  expect(loudest / 1000).toBeCloseTo(20 / 30, 2);
});

test('a playlist that claims to be a video opens no other file', async () => {
  const folder = makeFolder();
  const file = join(folder, 'list.mp4');
  writeFileSync(file, `#EXTM3U\n#EXTINF:1,\n${SAMPLE}\n#EXT-X-ENDLIST\n`);
  await expect(outlineSound(programs, file, createWork(folder))).rejects.toBeInstanceOf(ChildFailure);
});
