import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeAudio } from '../../../src/media/audio/decode-audio.ts';
import { mixUnplaced } from '../../../src/media/audio/mix-down.ts';
import { createWav, openWav } from '../../../src/media/audio/wav.ts';
import { createWork, ffmpeg, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

async function readWav(path: string) {
  const wav = await openWav(path);
  const samples = (await wav.read(0, wav.frames)).slice();
  await wav.close();
  return { ...wav, samples };
}

const energyOf = (samples: Int16Array) =>
  samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;

test('sound that begins after the picture keeps its time, and channels that cancel each other are turned, so that they are heard in one channel too', async () => {
  const folder = makeFolder();
  const file = join(folder, 'late.mov');
  const picture = ['-f', 'lavfi', '-i', 'testsrc=s=64x64:r=10:d=2'];
  const tone = ['-itsoffset', '1', '-f', 'lavfi', '-i', "aevalsrc='0.2*sin(2*PI*400*t)':s=48000:d=1"];
  ffmpeg(...picture, ...tone, '-af', 'pan=stereo|c0=c0|c1=-1*c0', '-c:v', 'mjpeg', '-c:a', 'pcm_s16le', file);
  const { stereo, mono } = await decodeAudio(programs, file, createWork(folder));
  for (const path of [stereo, mono]) {
    const { samples, channels, sampleRate, frames } = await readWav(path);
    const first = samples.findIndex((sample) => Math.abs(sample) > 200) / channels / sampleRate;
    expect(first).toBeGreaterThan(0.99);
    expect(first).toBeLessThan(1.01);
    expect(frames / sampleRate).toBeCloseTo(2, 1);
  }
  const { samples, frames } = await readWav(mono);
  expect(energyOf(samples.subarray(frames / 2)) / ((0.2 * 32_768) ** 2 / 2)).toBeCloseTo(1, 1);
});

test('sound without a picture is decoded, for the speakers of an episode, and a voice in one of three channels without places is heard in the mix', async () => {
  const folder = makeFolder();
  const file = join(folder, 'recorder.wav');
  const wav = await createWav(file, { sampleRate: 48_000, channels: 3 });
  const wave = (frame: number) => Math.round(8_000 * Math.sin((2 * Math.PI * 400 * frame) / 48_000));
  const samples = Int16Array.from({ length: 48_000 * 3 }, (_, at) =>
    at % 3 === 2 ? wave(Math.floor(at / 3)) : 0,
  );
  await wav.write(samples).finally(() => wav.close());
  const { stereo, mono } = await decodeAudio(programs, file, createWork(folder), 'convertible');
  for (const path of [stereo, mono]) {
    const heard = await readWav(path);
    expect(energyOf(heard.samples)).toBeGreaterThan(1_000 ** 2);
    expect(heard.frames / heard.sampleRate).toBeCloseTo(1, 1);
  }
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
