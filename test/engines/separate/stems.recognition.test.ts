import { expect, test } from 'vitest';
import { divideFrames, splitStems } from '../../../src/engines/separate/stems.ts';
import { recorder, soundOf, stereo } from './sound.ts';

const FRAMES = 24_000;

test('a sound without a voice is removed from the vocals, and a fifth of it is kept for recognition', async () => {
  const tone = Float64Array.from(
    { length: FRAMES },
    (_, at) => 8000 * Math.sin((2 * Math.PI * 440 * at) / 48_000),
  );
  const mix = soundOf(stereo(tone), 2);
  const denoised = soundOf(new Int16Array(FRAMES), 1);
  const [vocals, background, voice] = [recorder(2), recorder(2), recorder(1)];
  const speech = { segments: [{ start: 0, end: 0.5 }], weights: [1], directions: [0], apart: [null] };
  for (const part of divideFrames(FRAMES, 1)) {
    await splitStems(
      { mix, source: mix, denoised, ...speech },
      { vocals, background, voice },
      part,
      () => {},
    );
  }
  const loudest = ({ heard }: { heard: readonly number[] }) =>
    Math.max(...heard.slice(heard.length / 4, (heard.length * 3) / 4));
  expect(loudest(vocals)).toBeLessThan(80);
  expect(loudest(voice) / 8000).toBeCloseTo(0.2, 2);
});
