import { expect, test } from 'vitest';
import { matchLanguage, sameLanguage } from '../../src/protocol/languages.ts';

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

test('varieties of one language are the same language', () => {
  expect(sameLanguage('en-GB', 'en')).toBe(true);
  expect(sameLanguage('spa', 'es-MX')).toBe(true);
  expect(sameLanguage('es', 'ca')).toBe(false);
});
