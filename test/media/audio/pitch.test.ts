import { join } from 'node:path';
import { expect, test } from 'vitest';
import { medianPitch } from '../../../src/media/audio/pitch.ts';
import { wavSeconds } from '../../../src/media/audio/wav.ts';
import { ffmpeg, speechClip } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

/** One period after the other of a sharp sound, as the vocal folds make it, in Hz; each for some seconds. */
const folds = (...turns: readonly (readonly [pitch: number, seconds: number])[]) =>
  turns.map(([pitch, seconds]) => `aevalsrc=exp(-40*mod(t*${pitch}\\,1))-0.1:s=16000:d=${seconds}`);

async function pitchOf(sources: readonly string[], filter = 'anull'): Promise<number | null> {
  const path = join(makeFolder(), 'voice.wav');
  const inputs = sources.flatMap((source) => ['-f', 'lavfi', '-i', source]);
  const graph = `concat=n=${sources.length}:v=0:a=1,${filter}`;
  ffmpeg(...inputs, '-filter_complex', graph, '-c:a', 'pcm_s16le', path);
  return measure(path);
}

async function measure(path: string): Promise<number | null> {
  const segments = [{ start: 0, end: await wavSeconds(path) }];
  return medianPitch(path, segments, new AbortController().signal);
}

test.each([75, 110, 165, 220, 300])('a voice of %i Hz has this pitch, under noise too', async (pitch) => {
  const noise = 'aeval=val(0)*0.5+0.05*(2*random(0)-1)';
  expect(Math.abs(((await pitchOf(folds([pitch, 3]), noise)) ?? 0) - pitch)).toBeLessThan(0.03 * pitch);
});

test('the pitch of several speakers is that of the one who speaks most', async () => {
  expect(await pitchOf(folds([220, 1], [110, 3], [220, 1]))).toBeCloseTo(110, -1);
  expect(await pitchOf(folds([110, 1], [220, 3]))).toBeCloseTo(220, -1);
});

test('soft sound between the words does not count', async () => {
  const [voice = '', hum = ''] = [...folds([220, 2]), ...folds([80, 6])];
  expect(await pitchOf([voice, `${hum},volume=0.05`])).toBeCloseTo(220, -1);
});

test('silence, noise and a short sound have no pitch', async () => {
  expect(await pitchOf(['anullsrc=r=16000:cl=mono:d=3'])).toBeNull();
  expect(await pitchOf(['anoisesrc=r=16000:seed=1:d=3'])).toBeNull();
  expect(await pitchOf(folds([110, 0.5]))).toBeNull();
  const path = join(makeFolder(), 'voice.wav');
  ffmpeg('-f', 'lavfi', '-i', 'anullsrc=r=16000:cl=mono:d=1', '-c:a', 'pcm_s16le', path);
  expect(await medianPitch(path, [], new AbortController().signal)).toBeNull();
});

test('only the times of speech count', async () => {
  const path = join(makeFolder(), 'voice.wav');
  const [before = '', after = ''] = folds([110, 3], [220, 3]);
  const inputs = ['-f', 'lavfi', '-i', before, '-f', 'lavfi', '-i', after];
  ffmpeg(...inputs, '-filter_complex', 'concat=n=2:v=0:a=1', '-c:a', 'pcm_s16le', path);
  const pitch = await medianPitch(path, [{ start: 3, end: 6 }], new AbortController().signal);
  expect(pitch).toBeCloseTo(220, -1);
});

test('a recorded man has a pitch between 85 and 130 Hz', async () => {
  const path = join(makeFolder(), 'voice.wav');
  ffmpeg('-i', speechClip('0870'), '-ar', '16000', '-ac', '1', '-c:a', 'pcm_s16le', path);
  const pitch = await measure(path);
  expect(pitch).toBeGreaterThan(85);
  expect(pitch).toBeLessThan(130);
});
