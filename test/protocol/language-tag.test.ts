import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  baseLanguage,
  canonicalLanguage,
  describeSpecialTag,
  isKnownLanguage,
  languageName,
  nearestLanguage,
} from '../../src/protocol/language-tag.ts';
import { anyText } from './arbitraries.ts';

describe('a language tag', () => {
  it.each([
    ['es', 'es'],
    ['ES', 'es'],
    ['pt-br', 'pt-BR'],
    ['zh-hans-cn', 'zh-Hans-CN'],
    ['yue', 'yue'],
    ['es-419', 'es-419'],
    ['iw', 'he'],
    ['sl-rozaj-biske-1994', 'sl-1994-biske-rozaj'],
    // Forms of the registry that Intl refuses: a language below its group, and tags from before there were rules.
    ['zh-yue-HK', 'yue-HK'],
    ['ZH-cmn-hans-cn', 'zh-Hans-CN'],
    ['ar-arz', 'arz'],
    ['sgn-ase-US', 'ase-US'],
    ['i-navajo', 'nv'],
    ['I-LUX', 'lb'],
    ['i-klingon', 'tlh'],
    ['no-bok', 'nb'],
    ['no-nyn', 'nn'],
    ['zh-min-nan', 'nan'],
    ['zh-hakka', 'hak'],
    ['art-lojban', 'jbo'],
    ['sgn-BE-FR', 'sfb'],
    ['en-GB-oed', 'en-GB-oxendict'],
  ])('%s is written %s', (tag, expected) => {
    expect(canonicalLanguage(tag)).toBe(expected);
  });

  it.each([
    '',
    'a',
    'auto',
    'AUTO',
    'en_US',
    'en-',
    '-en',
    'en us',
    'en-US\n',
    '123',
    '中文',
    '../en',
    'e\0',
    // Three-letter codes of countries, which are no languages of these groups.
    'zh-chn',
    'ar-egy',
    'en-usa',
    'zh-yue1',
  ])('is not %j', (text) => {
    expect(canonicalLanguage(text)).toBeNull();
  });

  it('may be a name of five to eight letters, which only the list of engines can refuse', () => {
    expect(canonicalLanguage('Spanish')).toBe('spanish');
  });

  it('is at most 35 characters long, so that no tag takes much time', () => {
    const longest = `en-x-${'abcdefgh-'.repeat(3)}abc`;
    expect(longest).toHaveLength(35);
    expect(canonicalLanguage(longest)).toBe(longest);
    expect(canonicalLanguage(`${longest}d`)).toBeNull();
  });

  it('is in canonical case already, or converted once, whatever the text', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 12 }), (text) => {
        const canonical = canonicalLanguage(text);
        expect(canonical === null || canonicalLanguage(canonical) === canonical).toBe(true);
      }),
    );
  });
});

describe('the language alone', () => {
  it.each([
    ['pt-BR', 'pt'],
    ['ZH-Hant', 'zh'],
    ['es', 'es'],
    ['', ''],
  ])('of %j is %j', (tag, expected) => {
    expect(baseLanguage(tag)).toBe(expected);
  });
});

describe('the name of a language', () => {
  it.each([
    ['es', 'Spanish'],
    ['pt-BR', 'Brazilian Portuguese'],
    ['qqq', 'qqq'],
    ['not a tag', 'not a tag'],
  ])('%s is %s', (tag, expected) => {
    expect(languageName(tag)).toBe(expected);
  });
});

describe('a tag that is valid and names no language', () => {
  it.each([
    ['x-klingon', 'a tag for private use'],
    ['qaa', 'a tag for private use'],
    ['QTZ-Latn', 'a tag for private use'],
    ['und', 'the tag for an undetermined language'],
    ['und-Latn', 'the tag for an undetermined language'],
    ['mul', 'the tag for several languages'],
    ['mis', 'the tag for languages without a code'],
    ['zxx', 'the tag for content without a language'],
    ['i-default', 'an old tag that no language has'],
    ['zh-min', 'an old tag that no language has'],
  ])('%s is %s, not a language, and resembles none', (tag, meaning) => {
    expect([describeSpecialTag(tag), isKnownLanguage(tag), nearestLanguage(tag)]).toEqual([
      meaning,
      false,
      null,
    ]);
  });

  it.each(['es', 'qu', 'qua', 'quz', 'en-x-ours', 'x', 'zh-yue', 'no-bok', 'spanish'])('is not %s', (tag) => {
    expect(describeSpecialTag(tag)).toBeNull();
  });
});

describe('the tag that was probably meant', () => {
  it.each([
    ['spanish', 'es'],
    ['jp', 'ja'],
    ['en-usa', 'en'],
    ['zh-chn', 'zh'],
    ['pt-brazilian', 'pt'],
  ])('by %s is %s', (text, tag) => {
    expect(nearestLanguage(text)).toBe(tag);
  });

  // Nearly all codes of three letters are languages, most of which have no name here.
  it.each(['aaa', 'bfi', 'not-a-language'])('by %s is unknown: it may be the tag of a language', (tag) => {
    expect(nearestLanguage(tag)).toBeNull();
  });
});
