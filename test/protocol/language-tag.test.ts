import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { baseLanguage, canonicalLanguage, languageName } from '../../src/protocol/language-tag.ts';
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
