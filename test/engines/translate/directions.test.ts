import { describe, expect, test } from 'vitest';
import { findPair } from '../../../src/engines/languages.ts';
import { parseDirections } from '../../../src/engines/translate/directions.ts';

const LIST =
  '  cat-eng\n  eng-cat_valencia\n  eng-cat_valencia_uni\n  eng-spa\n  spa-eng_US\n  hbs-eng\n  README\n  en-es-debug\n';

describe('the directions of Apertium', () => {
  test('are named by BCP 47 tags; other names are omitted', () => {
    expect(parseDirections(LIST)).toEqual([
      { mode: 'cat-eng', from: 'ca', to: 'en' },
      { mode: 'eng-cat_valencia', from: 'en', to: 'ca-valencia' },
      { mode: 'eng-spa', from: 'en', to: 'es' },
      { mode: 'spa-eng_US', from: 'es', to: 'en-US' },
      { mode: 'hbs-eng', from: 'sr-Latn', to: 'en' },
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
    expect(findPair(parseDirections(LIST), { from, to })?.mode).toBe(mode);
  });
});
