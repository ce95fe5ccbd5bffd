import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { integratedLoudness, readBlocks, toEnergy } from '../../../src/media/audio/loudness.ts';
import { makeFolder } from '../../support/make-folder.ts';

const blocksOf = (...lufs: number[]) => Float64Array.from(lufs, toEnergy);

test('loudness ignores silence and pauses', () => {
  expect(integratedLoudness(blocksOf(-20, -20, -90, -120, -20))).toBeCloseTo(-20);
  expect(integratedLoudness(blocksOf(-20, -20, -35, -35))).toBeCloseTo(-20);
  expect(integratedLoudness(blocksOf(-20, -20, -26, -26))).toBeCloseTo(-22.04);
});

test('silence has no loudness', () => {
  expect(integratedLoudness(blocksOf(-120, -75))).toBeNull();
  expect(integratedLoudness(new Float64Array(0))).toBeNull();
});

test('loudness rises and falls with the gain', () => {
  const levels = fc.array(fc.double({ min: -60, max: 0, noNaN: true }), { minLength: 1 });
  fc.assert(
    fc.property(levels, fc.double({ min: 0, max: 20, noNaN: true }), (lufs, gain) => {
      const before = integratedLoudness(blocksOf(...lufs)) ?? Number.NaN;
      const after = integratedLoudness(blocksOf(...lufs.map((level) => level + gain))) ?? Number.NaN;
      expect(after - before).toBeCloseTo(gain, 6);
    }),
  );
});

test('the output of ffmpeg for silence and for damaged samples means no energy', async () => {
  const folder = makeFolder();
  const rows = ['frame:0 pts:0', 'lavfi.r128.M=-20.000', 'lavfi.r128.M=-inf', 'lavfi.r128.M=nan'];
  await writeFile(join(folder, 'a.lufs'), rows.join('\n'));
  expect([...(await readBlocks(folder, 'a.lufs'))].map((energy) => energy.toFixed(6))).toEqual([
    '0.010000',
    '0.000000',
    '0.000000',
  ]);
});
