import { expect, test } from 'vitest';
import { WHISPER_LANGUAGES, whisperCode } from '../../../src/engines/backends/transcript.ts';
import { canonicalLanguage } from '../../../src/protocol/language-tag.ts';

test('the languages are canonical tags without duplicates', () => {
  expect(WHISPER_LANGUAGES).toHaveLength(100);
  expect(new Set(WHISPER_LANGUAGES).size).toBe(100);
  expect(WHISPER_LANGUAGES.map(canonicalLanguage)).toEqual(WHISPER_LANGUAGES);
});

test.each([
  ['es-MX', 'es'],
  ['jv', 'jw'],
  ['fil', 'tl'],
  ['nb', 'no'],
])('whisper calls %s %s', (tag, code) => {
  expect(whisperCode(tag)).toBe(code);
});
