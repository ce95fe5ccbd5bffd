import { expect, test } from 'vitest';
import { speechLevel } from '../../../src/prepare/export/speech-level.ts';

const outline = (...decibels: number[]) => ({ stepMs: 20, decibels: Int8Array.from(decibels) });

test('the level is that of the voice while cues are shown, pauses left out', () => {
  const loudness = outline(-3, -3, -20, -20, -90, -20, -3);
  expect(speechLevel(loudness, [{ start_ms: 40, end_ms: 120 }])).toBeCloseTo(-20);
});

test('louder moments count as much as their energy', () => {
  expect(speechLevel(outline(-10, -40), [{ start_ms: 0, end_ms: 40 }])).toBeCloseTo(-13, 0);
});

test('there is no level where nobody speaks', () => {
  expect(speechLevel(outline(-90, -80), [{ start_ms: 0, end_ms: 40 }])).toBeNull();
  expect(speechLevel(outline(-10), [])).toBeNull();
});
