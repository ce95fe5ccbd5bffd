import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeAudio } from '../../../src/media/audio/decode-audio.ts';
import { mixUnplaced } from '../../../src/media/audio/mix-down.ts';
import { createWav, openWav } from '../../../src/media/audio/wav.ts';
import { createWork, ffmpeg, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

test('sound that begins after the picture keeps its time, with silence before it', async () => {
  const folder = makeFolder();
  const file = join(folder, 'late.mov');
  ffmpeg(
    ...[
      '-f',
      'lavfi',
      '-i',
      'testsrc=s=64x64:r=10:d=2',
      '-itsoffset',
      '1',
      '-f',
      'lavfi',
      '-i',
      'sine=f=500:d=1',
    ],
    ...['-c:v', 'mjpeg', '-c:a', 'pcm_s16le', file],
  );
  const { stereo, mono } = await decodeAudio(programs, file, createWork(folder));
  for (const path of [stereo, mono]) {
    const wav = await openWav(path);
    const samples = await wav.read(0, wav.frames);
    await wav.close();
    const first = samples.findIndex((sample) => Math.abs(sample) > 200) / wav.channels / wav.sampleRate;
    expect(first).toBeGreaterThan(0.99);
    expect(first).toBeLessThan(1.01);
    expect(wav.frames / wav.sampleRate).toBeCloseTo(2, 1);
  }
});

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=64x64:r=10:d=1'];

/** Energy of all samples. */
async function energyOf(path: string): Promise<number> {
  const wav = await openWav(path);
  const samples = await wav.read(0, wav.frames);
  await wav.close();
  return samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
}

test('channels that cancel each other are turned, so that their sound is heard in one channel too', async () => {
  const folder = makeFolder();
  const file = join(folder, 'inverted.mov');
  const tone = ['-f', 'lavfi', '-i', "aevalsrc='0.2*sin(2*PI*400*t)':s=48000:d=1"];
  ffmpeg(...PICTURE, ...tone, '-af', 'pan=stereo|c0=c0|c1=-1*c0', '-c:v', 'mjpeg', '-c:a', 'pcm_s16le', file);
  const { mono } = await decodeAudio(programs, file, createWork(folder));
  expect((await energyOf(mono)) / ((0.2 * 32_768) ** 2 / 2)).toBeCloseTo(1, 1);
});

test('a voice in one of three channels without places is heard in the mix', async () => {
  const folder = makeFolder();
  const sound = join(folder, 'sound.wav');
  const wav = await createWav(sound, { sampleRate: 48_000, channels: 3 });
  const wave = (frame: number) => Math.round(8_000 * Math.sin((2 * Math.PI * 400 * frame) / 48_000));
  const samples = Int16Array.from({ length: 48_000 * 3 }, (_, at) =>
    at % 3 === 2 ? wave(Math.floor(at / 3)) : 0,
  );
  await wav.write(samples).finally(() => wav.close());
  const file = join(folder, 'recorder.mov');
  ffmpeg(...PICTURE, '-i', sound, '-c:v', 'mjpeg', '-c:a', 'copy', file);
  const { stereo, mono } = await decodeAudio(programs, file, createWork(folder));
  for (const path of [stereo, mono]) expect(await energyOf(path)).toBeGreaterThan(1_000 ** 2);
});

test('channels are mixed by us only where ffmpeg does not know their places', () => {
  // The names that ffprobe gives 3 and 12 channels without places, and 16 in any.
  const layouts = ['2.1', 'unknown', 'hexadecagonal'];
  const mixed = [3, 12, 16].map((channels, at) =>
    mixUnplaced({ channels, channel_layout: layouts[at] ?? '' }).at(0),
  );
  expect(mixed).toEqual([
    expect.stringMatching(/^pan=stereo\|c0=0\.5774\*c0\+.*\*c2\|/),
    expect.stringMatching(/^pan=stereo\|c0=0\.2887\*c0\+.*\*c11\|/),
    undefined,
  ]);
});

test('sound without a picture is decoded, for the speakers of an episode', async () => {
  const folder = makeFolder();
  const file = join(folder, 'episode.mp3');
  ffmpeg('-f', 'lavfi', '-i', 'sine=f=500:d=2', file);
  const wav = await openWav((await decodeAudio(programs, file, createWork(folder), 'convertible')).mono);
  await wav.close();
  expect(wav.frames / wav.sampleRate).toBeCloseTo(2, 1);
});
