import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Word } from '../../../src/engines/backend.ts';
import { spreadWords } from '../../../src/engines/backends/transcript.ts';
import { findDoubts } from '../../../src/engines/recognize/doubts.ts';
import { SENTENCES } from '../../../src/engines/trial/sentences.ts';
import type { Segment } from '../../../src/media/audio/segments.ts';
import { joinSpaced } from '../../../src/media/subtitles/text.ts';

/** A text and its time, in the segment of that number. */
type Said = readonly [text: string, start: number, end: number, segment?: number];

const wordsOf = (said: readonly Said[]): Word[] =>
  said.flatMap(([text, start, end, segment = 0]) =>
    spreadWords({ text, start, end }, []).map((word) => ({ ...word, segment })),
  );

/** What is doubtful in words, with its reason; the speech is one segment of ten seconds unless it is given. */
const doubtsOf = (said: readonly Said[], segments: readonly Segment[] = [{ start: 0, end: 10 }]) =>
  findDoubts(wordsOf(said), segments, true).map(({ words, reason }) => [
    reason,
    joinSpaced(words.map(({ text }) => text)),
  ]);

describe('a loop', () => {
  test.each([
    ['of a phrase', 'thank you for watching'],
    ['of a sentence with marks and capitals', 'I do not know, he said. And'],
    ['of Japanese without spaces', 'ご視聴ありがとうございました。'],
  ])('%s is doubtful after its first time', (_, phrase) => {
    const times = (count: number) => joinSpaced(Array.from({ length: count }, () => phrase));
    expect(doubtsOf([[times(4), 0, 10]])).toEqual([['loop', times(3)]]);
    expect(doubtsOf([[times(3), 0, 10]])).toEqual([]);
  });

  test('across cues is doubtful, with the piece at its end, and not what follows', () => {
    const lines = ['Thank you.', 'Thank you!', 'thank you', 'Thank you. Thank', 'goodness.'];
    const said = lines.map((text, at): Said => [text, 2 * at, 2 * at + 1]);
    expect(doubtsOf(said)).toEqual([['loop', 'Thank you! thank you Thank you. Thank']]);
  });

  test.each(['no, no, no, no, no, no, no!', '7 3 7 3 7 3 7 3 7 3', 'ha ha ha ha'])(
    'is not what people say: %s',
    (text) => {
      expect(doubtsOf([[text, 0, 4]])).toEqual([]);
    },
  );
});

describe('a text', () => {
  const LONG = 'Everything that was said in this room will stay in this room.';

  test('of more than 30 letters a second is doubtful, unless there was time to say it', () => {
    const speech = [{ start: 1, end: 2 }];
    expect(doubtsOf([[LONG, 1, 2]], speech)).toEqual([['fast', LONG]]);
    expect(doubtsOf([[LONG, 1, 2]], [{ start: 1, end: 4 }])).toEqual([]);
    // The times of a recognizer may be wrong: the next words began later.
    expect(
      doubtsOf([
        [LONG, 1, 1.2],
        ['Good.', 6, 6.4],
      ]),
    ).toEqual([]);
    expect(
      doubtsOf(
        [
          [LONG, 1, 1.2],
          ['Good.', 1.3, 1.6],
        ],
        [{ start: 1, end: 4 }],
      ),
    ).toEqual([['fast', LONG]]);
  });

  test('of a few letters is not doubtful: its times are too short to be exact', () => {
    expect(doubtsOf([['Goodbye, everybody.', 2.99, 3]], [{ start: 0, end: 2.7 }])).toEqual([]);
  });

  test('more than a second from all speech is doubtful, and near it is not', () => {
    const speech = [
      { start: 2, end: 4 },
      { start: 9, end: 10 },
    ];
    const said: Said[] = [
      ['Hello.', 1.2, 1.6],
      ['Good morning.', 2, 4],
      ['Subtitles by nobody.', 5.5, 7.5],
      ['Bye.', 9, 10, 1],
    ];
    expect(doubtsOf(said, speech)).toEqual([['silence', 'Subtitles by nobody.']]);
  });

  test('that is that of the cue before is doubtful if there was less than half the time to say it', () => {
    const speech = [{ start: 0, end: 4.5 }];
    const twice = (end: number): Said[] => [
      ['We are coming home now.', 0, 3],
      ['We are coming home now!', 3.7, end],
      ['Yes.', end + 0.1, end + 0.5],
    ];
    expect(doubtsOf(twice(4.2), speech)).toEqual([['copy', 'We are coming home now!']]);
    expect(doubtsOf(twice(6), [{ start: 0, end: 7 }])).toEqual([]);
    expect(
      doubtsOf(
        [
          ['Thank you.', 0, 2],
          ['Thank you.', 2.7, 3],
          ['Yes.', 3.1, 3.4],
        ],
        speech,
      ),
    ).toEqual([]);
  });
});

/** Letters a second: people read aloud 10 to 17, and the fastest speak 25; of scripts whose signs are syllables, a third. */
const rate = fc.double({ min: 8, max: 18, noNaN: true });
/** How much faster than usual a line is said. */
const haste = fc.double({ min: 0.8, max: 1.4, noNaN: true });
const SYLLABLES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

const talk = fc
  .constantFrom(...Object.values(SENTENCES))
  .chain((sentences) =>
    fc.record({
      lines: fc.shuffledSubarray([...sentences, '10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0!', 'No, no, no.'], {
        minLength: 1,
      }),
      times: fc.infiniteStream(fc.integer({ min: 1, max: 3 })),
      pauses: fc.infiniteStream(fc.double({ min: 0, max: 2, noNaN: true })),
      rate,
      hastes: fc.infiniteStream(haste),
      /** Detection cuts soft sounds at both ends. */
      cuts: fc.infiniteStream(fc.double({ min: 0, max: 0.2, noNaN: true })),
    }),
  )
  .map(({ lines, times, pauses, rate, hastes, cuts }) => {
    const [count, pause, fast, cut] = [times, pauses, hastes, cuts].map(
      (each) => () => each.next().value as number,
    );
    const segments: Segment[] = [];
    const words: Word[] = [];
    let at = 0;
    for (const line of lines.flatMap((text) => Array.from({ length: count?.() ?? 1 }, () => text))) {
      const letters = [...line].length * (SYLLABLES.test(line) ? 3 : 1);
      const start = at + (pause?.() ?? 0);
      const end = start + Math.max(0.5, letters / (rate * (fast?.() ?? 1)));
      words.push(
        ...spreadWords({ text: line, start, end }, []).map((word) => ({ ...word, segment: segments.length })),
      );
      segments.push({ start: start + (cut?.() ?? 0), end: end - (cut?.() ?? 0) });
      at = end;
    }
    return { words, segments };
  });

test('ordinary talks have nothing doubtful, in many scripts, with refrains of three and numbers', () => {
  fc.assert(
    fc.property(talk, fc.boolean(), ({ words, segments }, punctuated) => {
      expect(findDoubts(words, segments, punctuated)).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

test('each doubtful word is doubtful once', () => {
  const texts = fc.array(fc.constantFrom('thank', 'you', 'so', 'much', 'いや', '5'), { maxLength: 60 });
  fc.assert(
    fc.property(texts, (said) => {
      const words = wordsOf(said.map((text, at): Said => [text, at / 4, (at + 1) / 4]));
      const doubtful = findDoubts(words, [{ start: 0, end: 20 }], false).flatMap((doubt) => doubt.words);
      expect(new Set(doubtful).size).toBe(doubtful.length);
    }),
  );
});
