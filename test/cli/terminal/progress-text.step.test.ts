import { expect, it } from 'vitest';
import { describeStep, drawBar } from '../../../src/cli/terminal/progress-text.ts';

it('never shows 100 % before the end', () => {
  expect(describeStep({ phase: 'dubbing', fraction: 0.999 })).toBe('dubbing 99 %');
});

it('shows details after the percentage', () => {
  expect(describeStep({ phase: 'uploading', fraction: 0.5, detail: '1 of 2 MB' })).toBe(
    'uploading 50 %, 1 of 2 MB',
  );
});

it.each([
  [null, 0],
  [0, 0],
  [0.5, 10],
  [1, 20],
  [7, 20],
])('draws %s as %i of 20 cells', (fraction, filled) => {
  expect(drawBar(fraction)).toBe('━'.repeat(filled) + '─'.repeat(20 - filled));
});
