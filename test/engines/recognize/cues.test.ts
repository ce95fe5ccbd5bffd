import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Word } from '../../../src/engines/backend.ts';
import { wordsToCues as group } from '../../../src/engines/recognize/cues.ts';

/** Cues of words without punctuation. */
const wordsToCues = (words: readonly Word[]) => group(words, false);

/** Words of 0.3 s from a start, without pauses between them. */
function say(text: string, start: number, segment = 0): Word[] {
  return text.split(' ').map((word, at) => ({
    text: word,
    start: start + at * 0.3,
    end: start + (at + 1) * 0.3,
    segment,
  }));
}

describe('words become cues', () => {
  test('that begin with the first word and read as a sentence', () => {
    expect(wordsToCues(say("i think i'm late mr dashwood", 1.5))).toEqual([
      { index: 1, start_ms: 1_500, end_ms: 3_300, text: "I think I'm late Mr. dashwood." },
    ]);
  });

  test('divided at pauses', () => {
    const cues = wordsToCues([...say('he was not', 0), ...say('a young man', 2)]);
    expect(cues.map((cue) => cue.text)).toEqual(['He was not.', 'A young man.']);
  });

  test('divided between two stretches of speech at a shorter pause', () => {
    const first = say('he was', 0);
    const texts = (segment: number) =>
      wordsToCues([...first, ...say('not', 1, segment)]).map((cue) => cue.text);
    expect(texts(0)).toEqual(['He was not.']);
    expect(texts(1)).toEqual(['He was.', 'Not.']);
  });

  test('divided if a long sentence pauses, without a full stop there', () => {
    const words = [
      ...say('it was a very long and winding road that led us', 0),
      ...say('through hills and dales to the sea at last', 3.8),
    ];
    const cues = wordsToCues(words);
    expect(cues.map((cue) => cue.text.replace('\n', ' '))).toEqual([
      'It was a very long and winding road that led us',
      'through hills and dales to the sea at last.',
    ]);
  });

  test('shown for a second at least, but not into the next one', () => {
    const [alone] = wordsToCues(say('no', 4));
    expect(alone).toMatchObject({ start_ms: 4_000, end_ms: 5_000 });
    const [first] = wordsToCues([...say('no', 4), ...say('yes', 4.6, 1)]);
    expect(first).toMatchObject({ start_ms: 4_000, end_ms: 4_600 });
  });
});

describe('words with capitals and punctuation', () => {
  test('are shown unchanged', () => {
    expect(group(say("I think, I'm late Mr. Dashwood", 0), true).map(({ text }) => text)).toEqual([
      "I think, I'm late Mr. Dashwood",
    ]);
  });

  test('become cues by sentence, except where a sentence is short', () => {
    const words = say('Yes. It was a long and winding road. It led to the sea.', 0);
    expect(group(words, true).map(({ text }) => text)).toEqual([
      'Yes. It was a long and winding road.',
      'It led to the sea.',
    ]);
  });

  test('have no spaces in scripts without spaces', () => {
    expect(group(say('今日は 天気が いい。 散歩 しよう', 0), true).map(({ text }) => text)).toEqual([
      '今日は天気がいい。散歩しよう',
    ]);
  });
});

describe('any recognized speech', () => {
  const heard = fc
    .array(
      fc.record({
        text: fc.stringMatching(/^[a-z']{1,12}$/),
        pause: fc.double({ min: 0, max: 2, noNaN: true }),
        length: fc.double({ min: 0.02, max: 1.5, noNaN: true }),
        jump: fc.boolean(),
      }),
      { minLength: 1, maxLength: 60 },
    )
    .map((items) => {
      let at = 0;
      let segment = 0;
      return items.map(({ text, pause, length, jump }): Word => {
        const start = at + pause;
        at = start + length;
        if (jump) segment += 1;
        return { text, start, end: at, segment };
      });
    });

  test('becomes cues without loss, in order, without overlap and not too long', () => {
    fc.assert(
      fc.property(heard, (words) => {
        const cues = wordsToCues(words);
        const count = (text: string) => text.split(/\s+/).length;
        expect(cues.reduce((sum, cue) => sum + count(cue.text), 0)).toBe(words.length);
        for (const [at, cue] of cues.entries()) {
          expect(cue.index).toBe(at + 1);
          expect(cue.end_ms).toBeGreaterThan(cue.start_ms);
          expect(cue.start_ms).toBeGreaterThanOrEqual(cues[at - 1]?.end_ms ?? 0);
          expect(cue.text.replaceAll('\n', ' ').length).toBeLessThanOrEqual(90);
        }
      }),
    );
  });
});
