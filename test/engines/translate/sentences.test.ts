import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { distributeTranslation } from '../../../src/engines/translate/sentences.ts';

describe('a translated sentence', () => {
  test('is distributed in proportion, between words', () => {
    expect(
      distributeTranslation(
        'No era un hombre joven de mala disposición.',
        ['He was not an', 'ill disposed young man.'],
        'es',
      ),
    ).toEqual(['No era un hombre', 'joven de mala disposición.']);
  });

  test('is cut after a clause if one ends near', () => {
    expect(
      distributeTranslation(
        'Después de la guerra, ella se fue a casa.',
        ['After the whole war,', 'she went home.'],
        'es',
      ),
    ).toEqual(['Después de la guerra,', 'ella se fue a casa.']);
  });

  test('is cut between words of scripts without spaces', () => {
    const parts = distributeTranslation(
      '今天天气很好，我们去爬山吧。',
      ['The weather is fine today,', 'let us climb a hill.'],
      'zh',
    );
    expect(parts).toEqual(['今天天气很好，', '我们去爬山吧。']);
  });

  test('with fewer words than cues is not distributed', () => {
    expect(distributeTranslation('Vámonos.', ['Let us', 'go.'], 'es')).toBeNull();
  });

  test('keeps all its words, and leaves no cue without one', () => {
    const words = fc.array(fc.stringMatching(/^[a-z,]{0,8}[a-z]$/), { minLength: 1, maxLength: 30 });
    const sources = fc.array(fc.stringMatching(/^[a-z ]{1,40}$/), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(words, sources, (list, parts) => {
        const cut = distributeTranslation(list.join(' '), parts, 'es');
        if (list.length < parts.length) {
          expect(cut).toBeNull();
          return;
        }
        expect(cut).toHaveLength(parts.length);
        expect(cut?.join(' ')).toBe(list.join(' '));
        for (const part of cut ?? []) expect(part).not.toBe('');
      }),
    );
  });
});
