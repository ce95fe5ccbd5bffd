import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeAudio } from '../../../src/media/audio/decode-audio.ts';
import { openWav } from '../../../src/media/audio/wav.ts';
import { createWork, ffmpeg, programs, temporaryFolder } from '../../engines/workspace.ts';

test('sound that begins after the picture keeps its time, with silence before it', async () => {
  const folder = temporaryFolder();
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
