import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeAudio } from '../../../src/media/audio/decode-audio.ts';
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
      'testsrc=s=64x64:r=10:d=3',
      '-itsoffset',
      '1',
      '-f',
      'lavfi',
      '-i',
      'sine=f=500:d=2',
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
    expect(wav.frames / wav.sampleRate).toBeCloseTo(3, 1);
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
  const energies = await Promise.all(
    ['c0', '-1*c0', '-0.5*c0+0.1*c1'].map(async (right, at) => {
      const [file, own] = [join(folder, `${at}.mov`), join(folder, String(at))];
      mkdirSync(own);
      const two = ['-f', 'lavfi', '-i', "aevalsrc='0.2*sin(2*PI*400*t)|0.05*sin(2*PI*700*t)':s=48000:d=1"];
      const turned = ['-af', `pan=stereo|c0=c0|c1=${right}`];
      ffmpeg(...PICTURE, ...two, ...turned, '-c:v', 'mjpeg', '-c:a', 'pcm_s16le', file);
      return energyOf((await decodeAudio(programs, file, createWork(own))).mono);
    }),
  );
  const [same = 0, inverted = 0, quieter = 0] = energies;
  expect(inverted / same).toBeCloseTo(1, 1);
  expect(quieter / same).toBeGreaterThan(0.5);
});

// ffprobe names the layouts 2.1, unknown, and hexadecagonal.
test.each([3, 12, 16])(
  'a voice in one of %d channels without places is heard in the mix',
  async (channels) => {
    const folder = makeFolder();
    const sound = join(folder, 'sound.wav');
    const wav = await createWav(sound, { sampleRate: 48_000, channels });
    const wave = (frame: number) => Math.round(8_000 * Math.sin((2 * Math.PI * 400 * frame) / 48_000));
    const samples = Int16Array.from({ length: 48_000 * channels }, (_, at) =>
      at % channels === 2 ? wave(Math.floor(at / channels)) : 0,
    );
    await wav.write(samples).finally(() => wav.close());
    const file = join(folder, 'recorder.mov');
    ffmpeg(...PICTURE, '-i', sound, '-c:v', 'mjpeg', '-c:a', 'copy', file);
    const { stereo, mono } = await decodeAudio(programs, file, createWork(folder));
    for (const path of [stereo, mono]) expect(await energyOf(path)).toBeGreaterThan(1_000 ** 2);
  },
);

test('sound without a picture is decoded, for the speakers of an episode', async () => {
  const folder = makeFolder();
  const file = join(folder, 'episode.mp3');
  ffmpeg('-f', 'lavfi', '-i', 'sine=f=500:d=2', file);
  const wav = await openWav((await decodeAudio(programs, file, createWork(folder), 'convertible')).mono);
  await wav.close();
  expect(wav.frames / wav.sampleRate).toBeCloseTo(2, 1);
});
