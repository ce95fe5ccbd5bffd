import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isPunctuated,
  languageTag,
  parseSrtTranscript,
  parseVerboseJson,
  spreadWords,
  WHISPER_LANGUAGES,
  whisperCode,
  wordsOf,
} from '../../../src/engines/backends/transcript.ts';
import { canonicalLanguage } from '../../../src/protocol/language-tag.ts';

const segments = [
  { start: 1, end: 3 },
  { start: 5, end: 9 },
];
const task = { segments, seconds: 11 };
const words = (json: unknown) => wordsOf(parseVerboseJson(JSON.stringify(json)), task);
const texts = (json: unknown) => words(json).map(({ text }) => text);

describe('verbose_json', () => {
  test('with words at the top level has these, each with its segment', () => {
    const answer = {
      task: 'transcribe',
      language: 'english',
      duration: 11,
      text: 'Hello there. Bye.',
      words: [
        { word: 'Hello', start: 1.1, end: 1.5 },
        { word: 'there.', start: 1.5, end: 2.2 },
        { word: 'Bye.', start: 5.5, end: 6 },
      ],
      segments: [{ id: 0, start: 1, end: 6, text: 'Hello there. Bye.' }],
    };
    expect(words(answer)).toEqual([
      { text: 'Hello', start: 1.1, end: 1.5, segment: 0 },
      { text: 'there.', start: 1.5, end: 2.2, segment: 0 },
      { text: 'Bye.', start: 5.5, end: 6, segment: 1 },
    ]);
  });

  test('with tokens in the segments has whole words', () => {
    const tokens = ['[_BEG_]', ' Unbe', 'liev', 'able', ',', ' isn', "'t", ' it', '?', '[_TT_550]'];
    const word = (text: string, at: number) => ({ word: text, start: 1 + at / 10, end: 1.1 + at / 10 });
    const found = words({ segments: [{ text: ' …', start: 1, end: 3, words: tokens.map(word) }] });
    expect(found.map(({ text }) => text)).toEqual(['Unbelievable,', "isn't", 'it?']);
    expect(found[0]?.start).toBeCloseTo(1.1);
    expect(found[0]?.end).toBeCloseTo(1.5);
  });

  test('without any timed word divides the time of a segment by length, and skips pauses', () => {
    const found = words({ segments: [{ text: 'aaaa bbbb cc', start: 1, end: 9 }] });
    // Six seconds of speech for ten letters.
    expect(found.map(({ start, end }) => [start, end].map((time) => Number(time.toFixed(3))))).toEqual([
      [1, 5.4],
      [5.4, 7.8],
      [7.8, 9],
    ]);
  });

  test('with nothing but a text divides the whole time of speech', () => {
    const found = words({ text: 'one two six' });
    expect(found.map(({ start }) => start)).toEqual([1, 5, 7]);
  });

  test('with one word without a time uses the times of the segments', () => {
    const timed = [{ word: 'In', start: 1.5, end: 1.7 }, { word: '2014.' }];
    const found = words({ segments: [{ text: 'In 2014.', start: 1, end: 3, words: timed }] });
    expect(found[0]).toMatchObject({ text: 'In', start: 1 });
    expect(found[1]).toMatchObject({ text: '2014.', end: 3 });
  });

  test('moves a phrase that ends beyond the sound into the sound', () => {
    const tokens = [
      { word: ' One', start: 7, end: 9 },
      { word: ' two', start: 17, end: 27 },
    ];
    const found = words({ segments: [{ text: ' One two', start: 7, end: 27.44, words: tokens }] });
    expect(found.map(({ text }) => text)).toEqual(['One', 'two']);
    expect(found.map(({ start }) => start)).toEqual([7, 9]);
    expect(found[1]?.end).toBe(11);
  });

  test('keeps quotes and brackets with the words they belong to', () => {
    const tokens = [' "', 'Hi', '"', ' ¿', 'Qué', '?', ' (', 'no', ')'];
    const word = (text: string) => ({ word: text, start: 1, end: 2 });
    expect(texts({ segments: [{ text: 'x', start: 1, end: 3, words: tokens.map(word) }] })).toEqual([
      '"Hi"',
      '¿Qué?',
      '(no)',
    ]);
  });

  test('splits text without spaces into words', () => {
    const found = texts({ segments: [{ text: '我们今天去学校。', start: 1, end: 3 }] });
    expect(found.length).toBeGreaterThan(2);
    expect(found.join('')).toBe('我们今天去学校。');
    const tokens = ['我们', '今天', ' OK'].map((text) => ({ word: text, start: 1, end: 2 }));
    expect(texts({ words: tokens })).toEqual(['我们', '今天', 'OK']);
  });

  test.each(['[BLANK_AUDIO]', ' (dramatic music)', '♪ ♪'])('drops %s, which no one said', (text) => {
    const inside = [{ word: text.trim(), start: 5.2, end: 5.8 }];
    expect(texts({ segments: [{ text, start: 5, end: 6 }] })).toEqual([]);
    expect(texts({ segments: [{ text, start: 5, end: 6 }], words: inside })).toEqual([]);
  });

  test('may have numbers as Python writes them, and words under the name text', () => {
    const json = '\uFEFF{"segments": [{"start": 1, "end": 3, "text": "Yes, no", "avg_logprob": NaN}]}';
    expect(wordsOf(parseVerboseJson(json), task).map(({ text }) => text)).toEqual(['Yes,', 'no']);
    expect(texts({ words: [{ text: 'Hi', start: 1, end: 2 }] })).toEqual(['Hi']);
  });

  test.each([
    ['<html>', 'text that is not JSON'],
    ['[1]', 'not verbose_json'],
    ['{"error": "no"}', 'it has neither text nor segments'],
    ['{"segments": [{"text": "a", "start": "soon", "end": 2}]}', 'segments.0.start'],
  ])('is refused if it is %s', (text, message) => {
    expect(() => parseVerboseJson(text)).toThrow(message);
  });

  test('yields ordered words within the sound, whatever times it claims', () => {
    const time = fc.double({ min: -5, max: 40, noNaN: true });
    const word = fc.record({ word: fc.string(), start: fc.option(time), end: fc.option(time) });
    const phrase = fc.record({ text: fc.string(), start: time, end: time, words: fc.option(fc.array(word)) });
    const answer = fc.record({ segments: fc.array(phrase), words: fc.option(fc.array(word)) });
    fc.assert(
      fc.property(answer, (json) => {
        let last = 0;
        for (const { text, start, end, segment } of words(json)) {
          expect(text.trim()).not.toBe('');
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end).toBeGreaterThan(start);
          expect(end).toBeLessThanOrEqual(11);
          expect([0, 1]).toContain(segment);
          last = start;
        }
      }),
    );
  });
});

describe('SRT', () => {
  test('yields words within the times of its cues, without markup', () => {
    const srt = '1\n00:00:01,000 --> 00:00:03,000\n<u>Hello</u>\nthere\n\n';
    expect(wordsOf(parseSrtTranscript(srt), task)).toEqual([
      { text: 'Hello', start: 1, end: 2, segment: 0 },
      { text: 'there', start: 2, end: 3, segment: 0 },
    ]);
  });

  test('may have cues that last no time', () => {
    const srt = '1\n00:00:05,999 --> 00:00:05,999\nHo\n\n2\n00:00:06,000 --> 00:00:07,000\nhum\n';
    expect(wordsOf(parseSrtTranscript(srt), task)).toMatchObject([{ text: 'Ho' }, { text: 'hum' }]);
  });

  test('in another format is refused with the row', () => {
    expect(() => parseSrtTranscript('hello')).toThrow('row 1: expected a number and times');
    expect(() => parseSrtTranscript('')).toThrow('no subtitles');
  });
});

describe('the language of a transcript', () => {
  test.each([
    ['english', 'en'],
    ['cantonese', 'yue'],
    ['Myanmar', 'my'],
    ['jw', 'jv'],
    ['zh_CN', 'zh-CN'],
    ['<|ja|>', null],
    ['klingonese', null],
    ['', null],
  ])('%s is %s', (said, tag) => {
    expect(languageTag(said)).toBe(tag);
  });
});

test('the languages of Whisper are canonical tags without duplicates', () => {
  expect(WHISPER_LANGUAGES).toHaveLength(100);
  expect(new Set(WHISPER_LANGUAGES).size).toBe(100);
  expect(WHISPER_LANGUAGES.map(canonicalLanguage)).toEqual(WHISPER_LANGUAGES);
});

test.each([
  ['es-MX', 'es'],
  ['jv', 'jw'],
  ['fil', 'tl'],
  ['nb', 'no'],
  ['zh-Hant-TW', 'zh'],
])('whisper calls %s %s', (tag, code) => {
  expect(whisperCode(tag)).toBe(code);
});

test.each([
  ['Hello there', false],
  ['Hello there.', true],
  ['你好。', true],
  ["it's", false],
])('%s is punctuated: %s', (text, expected) => {
  expect(isPunctuated([{ text, start: 0, end: 1 }])).toBe(expected);
});

test('a phrase whose speech was mostly missed keeps its own time', () => {
  const spread = spreadWords({ text: 'a b', start: 0, end: 4 }, [{ start: 3.9, end: 4 }]);
  expect(spread).toEqual([
    { text: 'a', start: 0, end: 2 },
    { text: 'b', start: 2, end: 4 },
  ]);
});
