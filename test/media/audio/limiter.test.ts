import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LIMITER } from '../../../src/media/audio/limiter.ts';
import { openWav } from '../../../src/media/audio/wav.ts';
import { ffmpeg } from '../../engines/workspace.ts';
import { truePeak } from '../../support/audio.ts';
import { makeFolder } from '../../support/make-folder.ts';

/** A sound with the filters in its file. */
function make(source: string, filters: string): string {
  const path = join(makeFolder(), 'sound.wav');
  ffmpeg('-f', 'lavfi', '-i', source, '-af', filters, '-c:a', 'pcm_s16le', path);
  return path;
}

test('the limiter lowers peaks that lie between the samples', () => {
  // All samples lie halfway between the zeros and the peaks, which are 3 dB higher.
  const tone = "aevalsrc='0.9*sin(2*PI*12000*t+PI/4)':s=48000:d=1";
  expect(truePeak(make(tone, LIMITER))).toBeLessThanOrEqual(-1);
});

test('the limiter keeps quiet sound as it is: its level, its length and its times', async () => {
  const beep = "aevalsrc='between(t,0.5,0.6)*0.3*sin(2*PI*440*t)':s=48000:d=1";
  const after = await openWav(make(beep, LIMITER));
  const was = Float64Array.from({ length: 48_000 }, (_, at) =>
    at < 24_000 || at > 28_800 ? 0 : 0.3 * 32_768 * Math.sin((2 * Math.PI * 440 * at) / 48_000),
  );
  expect(after.frames).toBe(was.length);
  const is = await after.read(0, after.frames);
  await after.close();
  // The beep does not begin smoothly, which the conversion of the rate rounds off.
  const differences = was.map((sample, at) => Math.abs(sample - (is[at] ?? 0)));
  expect(Math.max(...differences)).toBeLessThan(500);
  expect(differences.filter((difference) => difference > 20).length).toBeLessThan(100);
});
