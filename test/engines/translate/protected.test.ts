import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  hideProtected,
  isProtected,
  keepProtected,
  splitAtProtected,
} from '../../../src/engines/translate/protected.ts';

const ALL = { numbers: true };

/** Texts that a translation must not change. */
const VERBATIM = [
  'https://example.com',
  'https://example.com/a(b)?q=1&lang=en#top',
  'http://127.0.0.1:8080/',
  'www.example.org/path',
  'example.com',
  'my.host.example.io/a/b',
  'info@example.org',
  'first.last+tag@mail.example.co.uk',
  '#HappyDay',
  '#año_2024',
  '@anna',
  '@anna.b-c',
  '{name}',
  '{0}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a text
  '${total}',
  '{{count}}',
  '{{ user.name }}',
  '%s',
  '%1$s',
  '%.2f',
  '%(name)s',
  '%name%',
  '%@',
  '<x>',
  '</x>',
  '<user_name/>',
];
const NUMBERS = ['7', '1,234.50', '1.234,50', "1'000", '10:30', '2024', '٣٤'];

const word = fc.stringMatching(/^[a-zäñа-я]{1,9}$/);
const span = fc.constantFrom(...VERBATIM, ...NUMBERS);
/** Words and protected parts, and which of them are protected. */
const sentence = fc
  .array(
    fc.oneof(
      fc.record({ text: word, isKept: fc.constant(false) }),
      fc.record({ text: span, isKept: fc.constant(true) }),
    ),
  )
  .map((parts) => ({
    parts: parts.map(({ text }) => text),
    text: parts.map(({ text }) => text).join(' '),
    kept: parts.filter(({ isKept }) => isKept).map(({ text }) => text),
  }));

const shout = (text: string) => text.toUpperCase().split('').reverse().join('');

describe('protected parts', () => {
  test.each([...VERBATIM, ...NUMBERS])('%s is one', (part) => {
    const text = `words ${part}, words`;
    expect(isProtected(text, 5)).toBe(false);
    for (let at = 6; at < 6 + part.length; at += 1) expect(isProtected(text, at)).toBe(true);
    expect(isProtected(text, 6 + part.length)).toBe(false);
  });

  test.each([
    '50 % of it',
    'a < b > c',
    'end.Then it began',
    'He said: no',
    'C# and F#',
    '{two words}',
    'x@y',
    'a/b',
  ])('%j contains only numbers', (text) => {
    expect(keepProtected(text, 'x 50', { numbers: false })).toBe('x 50');
  });

  test('at the end of a sentence do not contain its marks', () => {
    expect(splitAtProtected('See (https://example.com/a).').join([])).toBe('See (https://example.com/a).');
    expect(keepProtected('See (https://example.com/a).', 'https://example.com/a', ALL)).not.toBeNull();
  });
});

describe('a translation', () => {
  test('that lost a protected part is not used', () => {
    fc.assert(
      fc.property(sentence, fc.nat(), ({ parts, text, kept }, at) => {
        fc.pre(kept.length > 0);
        const lost = kept[at % kept.length] ?? '';
        const without = parts.filter((part) => part !== lost).join(' ');
        fc.pre(!without.includes(lost));
        expect(keepProtected(text, without, ALL)).toBeNull();
      }),
    );
  });

  test('that has all of them, in any order, is used unchanged', () => {
    fc.assert(
      fc.property(sentence, ({ parts, text }) => {
        const turned = parts.toReversed().join(' ');
        expect(keepProtected(text, turned, ALL)).toBe(turned);
      }),
    );
  });

  test('gets the numbers of its source if only their marks differ', () => {
    expect(keepProtected('It costs 1,234.50 in 2024.', 'En 2024 cuesta 1.234,50.', ALL)).toBe(
      'En 2024 cuesta 1,234.50.',
    );
    expect(keepProtected('At 10:30.', 'Um 10.30 Uhr.', ALL)).toBe('Um 10:30 Uhr.');
    expect(keepProtected('At 10:30 pm.', 'Um 22:30 Uhr.', ALL)).toBeNull();
    expect(keepProtected('20 and 20', 'veinte y 20', ALL)).toBeNull();
    expect(keepProtected('At 1,000.', 'Bei 1.000.', { numbers: false })).toBe('Bei 1.000.');
  });

  test('may have more numbers than its source', () => {
    expect(keepProtected('Two of 3', '2 de 3', ALL)).toBe('2 de 3');
  });
});

describe('hidden parts', () => {
  test('are restored, wherever their placeholders are', () => {
    fc.assert(
      fc.property(sentence, ({ text, kept }) => {
        const { text: hidden, restore } = hideProtected(text);
        expect(restore(hidden)).toBe(text);
        for (const part of kept) if (!NUMBERS.includes(part)) expect(hidden).not.toContain(part);
        const turned = restore(hidden.split(' ').toReversed().join(' '));
        expect(turned.split(' ').sort()).toEqual(text.split(' ').sort());
      }),
    );
  });

  test('are restored in texts of any characters, and in ones with many parts', () => {
    const many = Array.from({ length: 120 }, (_, at) => `{p${at}}`).join('');
    expect(hideProtected(many).restore(hideProtected(many).text)).toBe(many);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
        const { text: hidden, restore } = hideProtected(text);
        expect(restore(hidden)).toBe(text);
      }),
    );
    expect(hideProtected('QJXA {name}').restore(hideProtected('QJXA {name}').text)).toBe('QJXA {name}');
  });
});

describe('a text in pieces', () => {
  test('keeps its protected parts in order, whatever happens to the pieces', () => {
    fc.assert(
      fc.property(sentence, ({ text, kept }) => {
        const { pieces, join } = splitAtProtected(text);
        expect(join(pieces)).toBe(text);
        const joined = join(pieces.map(shout));
        let from = 0;
        for (const part of kept) {
          from = joined.indexOf(part, from);
          expect(from).toBeGreaterThanOrEqual(0);
          from += part.length;
        }
      }),
    );
  });

  test('is joined again for texts of any characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
        const { pieces, join } = splitAtProtected(text);
        expect(join(pieces)).toBe(text);
        for (const piece of pieces) expect(piece).toMatch(/[\p{L}\p{N}]/u);
      }),
    );
  });

  test('contains only the words, without the marks around them', () => {
    expect(splitAtProtected('Visit {a}, or “write” to {b}!').pieces).toEqual(['Visit', 'or “write” to']);
    expect(splitAtProtected('{a}: 7!').pieces).toEqual([]);
  });
});
