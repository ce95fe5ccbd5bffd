import { describe, expect, test } from 'vitest';
import { addRoutes, parseDirections } from '../../../src/engines/translate/apertium.ts';
import { findPair } from '../../../src/protocol/languages.ts';

const LIST =
  '  cat-eng\n  eng-cat_valencia\n  eng-cat_valencia_uni\n  eng-spa\n  spa-eng_US\n  hbs-eng\n  README\n  en-es-debug\n';

describe('the directions of Apertium', () => {
  test('are named by BCP 47 tags; other names are omitted', () => {
    expect(parseDirections(LIST)).toEqual([
      { modes: ['cat-eng'], from: 'ca', to: 'en' },
      { modes: ['eng-cat_valencia'], from: 'en', to: 'ca-valencia' },
      { modes: ['eng-spa'], from: 'en', to: 'es' },
      { modes: ['spa-eng_US'], from: 'es', to: 'en-US' },
      { modes: ['hbs-eng'], from: 'sr-Latn', to: 'en' },
    ]);
  });

  test.each([
    ['en', 'es', 'eng-spa'],
    ['en-GB', 'es-MX', 'eng-spa'],
    ['en', 'ca', 'eng-cat_valencia'],
    ['es', 'en', 'spa-eng_US'],
    ['fr', 'en', undefined],
    ['en', 'fr', undefined],
  ])('serve %s to %s by %s', (from, to, mode) => {
    expect(findPair(parseDirections(LIST), { from, to })?.modes[0]).toBe(mode);
  });
});

test('a direction without a pair leads through Spanish, else through Catalan', () => {
  const pairs = parseDirections('eng-spa\nspa-eng\neng-cat\nes-pt\npt-es\ncat-por\ncat-ita\nen-gl\nes-gl');
  const routes = addRoutes(pairs).slice(pairs.length);
  expect(routes.map(({ from, to, through }) => `${from} ${to} ${through}`)).toEqual([
    'en pt es',
    'pt en es',
    'pt gl es',
    'en it ca',
  ]);
  expect(routes[0]?.modes).toEqual(['eng-spa', 'es-pt']);
});

test('a regional variety is served by its own mode, else by the language, there and back', () => {
  const pairs = parseDirections('eng-spa\nspa-eng\nes-pt\nes-pt_BR\npt-es');
  const modesOf = (from: string, to: string) => findPair(addRoutes(pairs), { from, to })?.modes;
  expect(modesOf('en', 'pt-BR')).toEqual(['eng-spa', 'es-pt_BR']);
  expect(modesOf('en', 'pt-PT')).toEqual(['eng-spa', 'es-pt']);
  expect(modesOf('pt-BR', 'en-GB')).toEqual(['pt-es', 'spa-eng']);
  const plain = parseDirections('eng-spa\nes-pt');
  expect(findPair(addRoutes(plain), { from: 'en', to: 'pt-BR' })?.modes).toEqual(['eng-spa', 'es-pt']);
});
