import { expect, test } from 'vitest';
import { matchLanguage, nearLanguages, sameLanguage } from '../../src/protocol/languages.ts';

test.each([
  ['es', ['es', 'es-419'], 'es'],
  ['es-mx', ['es', 'es-419'], 'es-419'],
  ['es-MX', ['es'], 'es'],
  ['es-ES', ['es-419', 'es'], 'es'],
  ['pt', ['pt-BR', 'pt-PT'], 'pt-BR'],
  ['en', ['en-GB', 'en-US'], 'en-US'],
  ['fr', ['fr-BE', 'fr-FR'], 'fr-FR'],
  ['zh-Hant-TW', ['zh'], 'zh'],
  ['en-AU', ['en-GB'], 'en-GB'],
  ['de', ['en', 'es'], null],
  ['not a tag', ['en'], null],
  ['spa', ['es'], 'es'],
])('%s among %j is served by %s', (wanted, available, expected) => {
  expect(matchLanguage(wanted, available)).toBe(expected);
});

test.each([
  ['en', ['en-GB', 'en-US', 'en', 'es'], ['en', 'en-US', 'en-GB']],
  ['es', ['es-ES'], ['es-ES']],
  ['en-GB', ['en-US', 'en'], ['en']],
  ['es-MX', ['es-ES', 'es', 'es-419'], ['es-419', 'es']],
  ['zh', ['zh-TW', 'zh-CN', 'zh-Hans-SG'], ['zh-CN', 'zh-Hans-SG']],
  ['zh-TW', ['zh', 'zh-Hant'], ['zh-Hant']],
  ['zh-Hant', ['zh-TW', 'zh-CN'], ['zh-TW']],
  ['sr', ['sr-Latn'], []],
  ['auto', ['en'], []],
])('a request in %s among %j is served by texts in %j', (wanted, available, expected) => {
  expect(nearLanguages(wanted, available)).toEqual(expected);
});

test('varieties of one language are the same language', () => {
  expect(sameLanguage('en-GB', 'en')).toBe(true);
  expect(sameLanguage('spa', 'es-MX')).toBe(true);
  expect(sameLanguage('es', 'ca')).toBe(false);
});
