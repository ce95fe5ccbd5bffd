import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createWav, openWav } from '../../../src/engines/media/wav-file.ts';
import { cutUtterances, shareOut } from '../../../src/engines/recognize/utterances.ts';
import { temporaryFolder } from '../workspace.ts';

test('each stretch of speech is cut with a margin, within the file', async () => {
  const folder = temporaryFolder();
  const voice = await createWav(join(folder, 'voice.wav'), { sampleRate: 16_000, channels: 1 });
  await voice.write(Int16Array.from({ length: 32_000 }, (_, at) => at % 1000));
  await voice.close();
  const segments = [
    { start: 0.1, end: 0.5 },
    { start: 1, end: 1.9 },
  ];
  const utterances = await cutUtterances(join(folder, 'voice.wav'), segments, folder);
  expect(utterances).toEqual([
    { name: 'utterance-0', segment: 0, start: 0, length: 0.65 },
    { name: 'utterance-1', segment: 1, start: 0.85, length: 1.15 },
  ]);
  const cut = await openWav(join(folder, 'utterance-1.wav'));
  expect([...(await cut.read(0, 2))]).toEqual([13_600 % 1000, 13_601 % 1000]);
  await cut.close();
});

test('processes get about the same length, and each utterance goes to one', () => {
  const lengths = fc.array(fc.double({ min: 0.2, max: 12, noNaN: true }), { maxLength: 40 });
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 8 }), (list, processes) => {
      const utterances = list.map((length, at) => ({ name: `u${at}`, segment: at, start: at, length }));
      const shares = shareOut(utterances, processes);
      expect(
        shares
          .flat()
          .map((utterance) => utterance.name)
          .sort(),
      ).toEqual(utterances.map(({ name }) => name).sort());
      expect(shares.length).toBeLessThanOrEqual(processes);
      const loads = shares.map((share) => share.reduce((sum, { length }) => sum + length, 0));
      // Longest first, to the idlest: two loads never differ by more than one utterance.
      expect(Math.max(0, ...loads) - Math.min(...loads)).toBeLessThanOrEqual(12.001);
    }),
  );
});
