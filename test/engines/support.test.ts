import { describe, expect, test } from 'vitest';
import type { Capabilities } from '../../src/engines/engine.ts';
import { explainUnsupported } from '../../src/engines/support.ts';

const ALL: Capabilities = {
  missing: [],
  recognize: ['en'],
  translate: [
    { from: 'en', to: 'es' },
    { from: 'en', to: 'ca' },
    { from: 'es', to: 'en' },
  ],
  speak: [
    { language: 'es', voices: ['es'] },
    { language: 'de', voices: ['de'] },
  ],
};
const without = (step: 'recognize' | 'speak' | 'export', engine: string): Capabilities => ({
  ...ALL,
  missing: [{ step, engine }],
});

describe('a supported request', () => {
  test.each([
    ['audio_separation', {}],
    ['subtitle_recognition', { source_language: 'en-GB' }],
    ['subtitle_translation', { source_language: 'auto', target_language: 'es-MX' }],
    ['dubbing', { target_language: 'de-AT' }],
    ['auto_localization', { source_language: 'en', target_language: 'ca', mode: 'subtitles_only' }],
  ] as const)('for %s with %j has no problem', (kind, fields) => {
    expect(explainUnsupported(kind, fields, ALL)).toBeNull();
  });

  test('does not need an engine that the kind does not use', () => {
    expect(explainUnsupported('audio_separation', {}, without('speak', 'espeak-ng'))).toBeNull();
    const fields = { target_language: 'es', mode: 'subtitles_only' };
    expect(explainUnsupported('auto_localization', fields, without('speak', 'espeak-ng'))).toBeNull();
  });
});

describe('an unsupported request', () => {
  test('because of a missing engine is refused with its name and how to install it', () => {
    const obstacle = explainUnsupported('subtitle_recognition', {}, without('recognize', 'pocketsphinx'));
    expect(obstacle).toEqual({
      missing: true,
      message: 'pocketsphinx is not installed or lacks its data; recognizing speech needs it',
      advice: 'vloc engines install',
      steps: [],
    });
  });

  test.each([
    [
      'subtitle_recognition',
      { source_language: 'fr' },
      'speech in French cannot be recognized here, only English (en)',
    ],
    [
      'subtitle_translation',
      { source_language: 'en', target_language: 'ja' },
      'English cannot be translated to Japanese here, only to Spanish (es), Catalan (ca)',
    ],
    [
      'subtitle_translation',
      { source_language: 'ja', target_language: 'en' },
      'Japanese cannot be translated here; to English only Spanish (es) can',
    ],
    [
      'subtitle_translation',
      { source_language: 'xx', target_language: 'ja' },
      'nothing can be translated from xx or to Japanese here, only from English (en), Spanish (es), to Spanish (es), Catalan (ca), English (en)',
    ],
    [
      'subtitle_translation',
      { source_language: 'auto', target_language: 'ja' },
      'nothing can be translated to Japanese here, only to Spanish (es), Catalan (ca), English (en)',
    ],
    [
      'subtitle_translation',
      { source_language: 'es-MX', target_language: 'es' },
      'source and target language are both Spanish: there is nothing to translate',
    ],
    [
      'auto_localization',
      { target_language: 'de' },
      'English cannot be translated to German here, only to Spanish (es), Catalan (ca)',
    ],
    [
      'auto_localization',
      { target_language: 'ca' },
      'there is no voice for Catalan; an engine of engines.json can speak it (vloc engines add); available: Spanish (es), German (de)',
    ],
    [
      'dubbing',
      { target_language: 'ja' },
      'there is no voice for Japanese: the built-in voice (espeak-ng) has no dictionary of its characters and would spell them; an engine of engines.json can speak it (vloc engines add); available: Spanish (es), German (de)',
    ],
  ] as const)('%s with %j', (kind, fields, message) => {
    expect(explainUnsupported(kind, fields, ALL)).toMatchObject({ missing: false, message });
  });
});

test('varieties of a language are listed once', () => {
  const recognize = ['en-US', 'en-GB', 'zh-Hans', 'zh-Hant'];
  const obstacle = explainUnsupported(
    'subtitle_recognition',
    { source_language: 'fr' },
    { ...ALL, recognize },
  );
  expect(obstacle?.message).toBe(
    'speech in French cannot be recognized here, only English (en), Chinese (zh)',
  );
});

test.each([
  ['auto_localization', { target_language: 'ja' }, ['translate', 'speak']],
  ['auto_localization', { target_language: 'ca' }, ['speak']],
  ['auto_localization', { source_language: 'fr', target_language: 'es' }, ['recognize', 'translate']],
  ['subtitle_translation', { source_language: 'es-MX', target_language: 'es' }, []],
] as const)('%s with %j names the steps that need another engine', (kind, fields, steps) => {
  expect(explainUnsupported(kind, fields, ALL)?.steps).toEqual(steps);
});

test('a hundred languages are not listed in a message', () => {
  const letters = [...'abcdefghijk'];
  const languages = letters.flatMap((first) => letters.map((second) => first + second));
  const many = { ...ALL, speak: languages.map((language) => ({ language, voices: [language] })) };
  const obstacle = explainUnsupported('dubbing', { target_language: 'zu' }, many);
  expect(obstacle?.message).toMatch(/^there is no voice for Zulu; [^;]* \(vloc engines add\)$/);
  expect(obstacle?.advice).toContain('vloc engines list');
});
