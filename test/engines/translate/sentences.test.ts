import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CueText,
  distributeTranslation,
  groupSentences,
} from '../../../src/engines/translate/sentences.ts';

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

describe('a translated sentence', () => {
  test('is distributed in proportion, between words', () => {
    expect(
      distributeTranslation(
        'No era un hombre joven de mala disposición.',
        ['He was not an', 'ill disposed young man.'],
        'es',
      ),
    ).toEqual(['No era un hombre', 'joven de mala disposición.']);
  });

  test('is cut after a clause if one ends near', () => {
    expect(
      distributeTranslation(
        'Después de la guerra, ella se fue a casa.',
        ['After the whole war,', 'she went home.'],
        'es',
      ),
    ).toEqual(['Después de la guerra,', 'ella se fue a casa.']);
  });

  test('is cut between words of scripts without spaces', () => {
    const parts = distributeTranslation(
      '今天天气很好，我们去爬山吧。',
      ['The weather is fine today,', 'let us climb a hill.'],
      'zh',
    );
    expect(parts).toEqual(['今天天气很好，', '我们去爬山吧。']);
  });

  test('with fewer words than cues is not distributed', () => {
    expect(distributeTranslation('Vámonos.', ['Let us', 'go.'], 'es')).toBeNull();
  });

  test('keeps all its words, and leaves no cue without one', () => {
    const words = fc.array(fc.stringMatching(/^[a-z,]{0,8}[a-z]$/), { minLength: 1, maxLength: 30 });
    const sources = fc.array(fc.stringMatching(/^[a-z ]{1,40}$/), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(words, sources, (list, parts) => {
        const cut = distributeTranslation(list.join(' '), parts, 'es');
        if (list.length < parts.length) {
          expect(cut).toBeNull();
          return;
        }
        expect(cut).toHaveLength(parts.length);
        expect(cut?.join(' ')).toBe(list.join(' '));
        for (const part of cut ?? []) expect(part).not.toBe('');
      }),
    );
  });
});
