import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CueText, groupSentences } from '../../../src/media/subtitles/sentences.ts';

/** Cues of a second, one after the other, with a pause of 100 ms. */
const cuesOf = (...texts: string[]): CueText[] =>
  texts.map((text, at) => ({ text, startMs: at * 1_100, endMs: at * 1_100 + 1_000, isWhole: true }));
const group = (...texts: string[]) => groupSentences(cuesOf(...texts));

describe('a sentence', () => {
  test.each([
    ['continues in lower case', ['He was not an', 'ill disposed young man.'], [[0, 1]]],
    ['continues after a comma', ['After the war,', 'Mary went home.', 'He stayed.'], [[0, 1], [2]]],
    ['continues with a name', ['I told you that', 'Mary is here.', 'Yes.'], [[0, 1], [2]]],
    ['continues in scripts without capitals', ['今天天气很好', '我们去爬山。', '好。'], [[0, 1], [2]]],
    ['ends with a full stop', ['He was young.', 'he went.'], [[0], [1]]],
    ['ends with a quotation mark', ['He said “Go.”', 'and went.'], [[0], [1]]],
    ['ends before another speaker', ['He was', '- what?'], [[0], [1]]],
    ['ends before a sound', ['He was', '[door slams]', 'not there.'], [[0], [1], [2]]],
    ['ends before a song', ['he was', '♪ la la ♪'], [[0], [1]]],
    ['ends with a title in capitals', ['CHAPTER ONE', 'He was young.'], [[0], [1]]],
    ['has capitals throughout', ['HE WAS NOT AN', 'ILL MAN.'], [[0, 1]]],
  ])('%s', (_, texts, groups) => {
    expect(group(...texts)).toEqual(groups);
  });

  test('is not guessed if texts have no full stops', () => {
    expect(group('Hello', 'My name is Bob', 'I live here', 'Bye')).toEqual([[0], [1], [2], [3]]);
  });

  test('ends at a long pause, and with cues that are shown together', () => {
    const [first, second] = cuesOf('He was not', 'an ill man.');
    if (first === undefined || second === undefined) throw new Error('no cues');
    expect(groupSentences([first, { ...second, startMs: 4_000, endMs: 5_000 }])).toEqual([[0], [1]]);
    expect(groupSentences([first, { ...second, startMs: 0 }])).toEqual([[0], [1]]);
    expect(groupSentences([first, { ...second, isWhole: false }])).toEqual([[0], [1]]);
  });

  test('has six cues at most', () => {
    expect(group(...Array.from({ length: 14 }, () => 'and so on')).map(({ length }) => length)).toEqual([
      6, 6, 2,
    ]);
  });

  test('contains each cue once, in order', () => {
    const text = fc.constantFrom('he was', 'He was', 'young.', 'and, so,', '- No', '♪ la', '中文', 'I', '');
    fc.assert(
      fc.property(fc.array(text), (texts) => {
        expect(groupSentences(cuesOf(...texts)).flat()).toEqual([...texts.keys()]);
      }),
    );
  });
});
