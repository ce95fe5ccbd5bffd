import { expect, test } from 'vitest';
import { decodePeaks, drawWave, WAVE_HALF } from '../../../src/batch/page/playback.ts';

test('peaks are restored from Base64, and invalid Base64 has none', () => {
  expect(decodePeaks(Buffer.from([0, 128, 255]).toString('base64'))).toEqual(Uint8Array.from([0, 128, 255]));
  expect(decodePeaks('%')).toBeNull();
});

test('the loudest peak of all tracks reaches both edges, however quiet they are', () => {
  const path = drawWave(Uint8Array.from([0, 4, 8]), 8);
  expect(path).toBe('M0 49.5L1 25L2 0L2 100L1 75L0 50.5Z');
  expect(path).toContain(`2 ${2 * WAVE_HALF}`);
});

test('a track that is half as loud as another is drawn half as high', () => {
  expect(drawWave(Uint8Array.from([4]), 8)).toBe('M0 25L0 75Z');
});

test('silence is a thin line', () => {
  expect(drawWave(new Uint8Array(2), 1)).toBe('M0 49.5L1 49.5L1 50.5L0 50.5Z');
});
