import { expect, test } from 'vitest';
import {
  changePauses,
  clipSeconds,
  cutClip,
  fadeOut,
  findPauses,
  trimSilence,
} from '../../../src/media/audio/clip.ts';

const clip = (samples: number[]) => ({ samples: Int16Array.from(samples), sampleRate: 1_000 });

test('silence at both ends is cut off, except 2 ms before and 10 ms after', () => {
  const silence = Array.from({ length: 50 }, () => 150);
  const trimmed = trimSilence(clip([...silence, 900, 0, -900, ...silence]));
  expect([...trimmed.samples]).toEqual([150, 150, 900, 0, -900, ...silence.slice(0, 10)]);
  expect(clipSeconds(trimSilence(clip(silence)))).toBe(0);
});

test('a cut end fades out over 30 ms', () => {
  const cut = fadeOut(cutClip(clip(Array.from({ length: 100 }, () => 300)), 50));
  expect(cut.samples).toHaveLength(50);
  expect([...cut.samples.slice(18, 23)]).toEqual([300, 300, 300, 290, 280]);
  expect(cut.samples.at(-1)).toBe(10);
  expect(cutClip(clip([1, 2]), 2).samples).toHaveLength(2);
});

test('pauses are silence of 0.15 s between words, and become longer or shorter at their end', () => {
  const spoken = clip([
    900,
    ...Array<number>(149).fill(199),
    800,
    ...Array<number>(150).fill(100),
    700,
    -700,
  ]);
  expect(findPauses(spoken)).toEqual([{ start: 0.151, end: 0.301 }]);
  const longer = changePauses(spoken, [{ at: 0.301, by: 0.002 }]).samples;
  expect([...longer.slice(299)]).toEqual([100, 100, 0, 0, 700, -700]);
  const shorter = changePauses(spoken, [{ at: 0.301, by: -0.148 }]).samples;
  expect([...shorter.slice(149)]).toEqual([199, 800, 100, 100, 700, -700]);
  const both = changePauses(clip([1, 2, 3, 4, 5]), [
    { at: 0.002, by: -0.001 },
    { at: 0.004, by: 0.001 },
  ]);
  expect([...both.samples]).toEqual([1, 3, 4, 0, 5]);
});
