import { expect, test } from 'vitest';
import { chooseVoice, spokenLanguages, voiceNames } from '../../../src/engines/backends/voice-choice.ts';

const entry = { voices: { es: { female: 'ana', male: 'luis' }, 'pt-BR': 'bia', fr: {} } };

test.each([
  ['es', 'female', 'ana'],
  ['es-MX', 'male', 'luis'],
  ['es', 'auto', 'ana'],
  ['pt', 'male', 'bia'],
  ['fr', 'auto', null],
  ['de', 'auto', null],
] as const)('the voice for %s (%s) is %s', (language, mode, voice) => {
  expect(chooseVoice(entry, language, mode)).toBe(voice);
});

test('the languages are the listed ones, else those with voices', () => {
  expect(spokenLanguages(entry)).toEqual(['es', 'pt-BR', 'fr']);
  expect(spokenLanguages({ ...entry, languages: ['es'] })).toEqual(['es']);
  expect(spokenLanguages({})).toEqual([]);
});

test('the voices of a language are named once each', () => {
  expect(voiceNames(entry, 'es')).toEqual(['ana', 'luis']);
  expect(voiceNames(entry, 'pt-BR')).toEqual(['bia']);
  expect(voiceNames({}, 'es')).toEqual([]);
});
