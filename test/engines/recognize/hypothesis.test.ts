import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseHypothesis } from '../../../src/engines/recognize/hypothesis.ts';

const LINE =
  'utterance-3 S 0 T -8281863 A -7754752 L -527111 0 -359424 0 <s> 22 -210944 -257 he 33 -393216 -136 was(2) 56 -230400 ' +
  '-524288 [NOISE] 112 -595968 -386 an(2) 130 -714752 -108 </s> 297';

test('gives the words with their frames, without noise and marks', () => {
  expect(parseHypothesis(LINE)).toEqual({
    utterance: 'utterance-3',
    words: [
      { text: 'he', from: 22, to: 33 },
      { text: 'was', from: 33, to: 56 },
      { text: 'an', from: 112, to: 130 },
    ],
  });
});

test('gives no words for a line without any, or of another form', () => {
  expect(parseHypothesis('utterance-1 S 0 T 0 A 0 L 0 0 0 0 <s> 3').words).toEqual([]);
  expect(parseHypothesis('(null)').words).toEqual([]);
  fc.assert(
    fc.property(fc.string(), (line) => {
      for (const word of parseHypothesis(line).words) expect(Number.isInteger(word.from)).toBe(true);
    }),
  );
});
