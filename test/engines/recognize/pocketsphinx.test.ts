import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutUtterances, parseHypothesis, shareOut } from '../../../src/engines/recognize/pocketsphinx.ts';
import { createWav, openWav } from '../../../src/media/audio/wav.ts';
import { makeFolder } from '../../support/make-folder.ts';

const LINE =
  'utterance-3 S 0 T -8281863 A -7754752 L -527111 0 -359424 0 <s> 22 -210944 -257 he 33 -393216 -136 was(2) 56 -230400 ' +
  '-524288 [NOISE] 112 -595968 -386 an(2) 130 -714752 -108 </s> 297';

test('returns the words with their frames, without noise and marks', () => {
  expect(parseHypothesis(LINE)).toEqual({
    utterance: 'utterance-3',
    words: [
      { text: 'he', from: 22, to: 33 },
      { text: 'was', from: 33, to: 56 },
      { text: 'an', from: 112, to: 130 },
    ],
  });
});

test('returns no words for a line without any, or of another form', () => {
  expect(parseHypothesis('utterance-1 S 0 T 0 A 0 L 0 0 0 0 <s> 3').words).toEqual([]);
  expect(parseHypothesis('(null)').words).toEqual([]);
  fc.assert(
    fc.property(fc.string(), (line) => {
      for (const word of parseHypothesis(line).words) expect(Number.isInteger(word.from)).toBe(true);
    }),
  );
});

test('each stretch of speech is cut with a margin, within the file', async () => {
  const folder = makeFolder();
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
