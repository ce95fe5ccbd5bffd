/** The terms that a translation has lost, and placeholders for them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  describeLoss,
  findLostTerms,
  maskTerms,
  restoreTerms,
  sayNames,
  type Term,
} from '../../src/batch/terms.ts';

function cues(...texts: readonly string[]) {
  return texts.map((text, at) => ({ index: at + 1, start_ms: at * 1000, end_ms: at * 1000 + 900, text }));
}

/** The missing terms as `row term→expected`. */
function lost(terms: readonly Term[], source: readonly string[], translated: readonly string[]): string[] {
  return findLostTerms(terms, cues(...source), cues(...translated)).map(
    ({ row, term, expected, missing }) => `${row} ${term}→${expected}${missing > 1 ? ` ×${missing}` : ''}`,
  );
}

const keep = (term: string): Term => ({ term, expected: term });

describe('a term', () => {
  it.each<[string, Term, string, string, string[]]>([
    ['is found as a whole word only', keep('Acme'), 'Acmeland', 'nada', []],
    ['is lost if only a longer word is there', keep('Acme'), 'Acme', 'Acmeland', ['1 Acme→Acme']],
    ['is no end of a longer word', keep('Acme'), 'reAcme', 'nada', []],
    ['is lost if only a word that ends with it is there', keep('Acme'), 'Acme', 'reAcme', ['1 Acme→Acme']],
    ['with * may have an ending', keep('Acme*'), 'Acme grows', 'Acmes crece', []],
    [
      'with * matches endings in the source too',
      { term: 'board*', expected: 'consejo*' },
      'boards',
      'nada',
      ['1 board*→consejo*'],
    ],
    ['may change its case', keep('Acme'), 'ACME', 'acme', []],
    ['with capitals inside may not', keep('iPhone'), 'iPhone', 'Iphone', ['1 iPhone→iPhone']],
    ['with capitals inside does not mean another word', keep('NASA'), 'Nasa', '', []],
    [
      'with several words may be broken',
      keep('New York'),
      'New\nYork',
      'Nueva York',
      ['1 New York→New York'],
    ],
    ['may be broken in the translation', keep('New York'), 'New York', 'New\nYork', []],
    ['ends before an apostrophe', keep('Acme'), "Acme's", 'Acme’nin', []],
    ['with an apostrophe matches both forms of it', keep("L'Oréal"), 'L’Oréal', "L'Oréal", []],
    ['is found between characters of a script without spaces', keep('Acme'), 'Acme', 'これはAcmeの製品', []],
    [
      'of a script without spaces is found anywhere',
      { term: 'board', expected: '取締役会' },
      'board',
      '新取締役会は',
      [],
    ],
    ['counts as often as it occurs', keep('Acme'), 'Acme, Acme, Acme', 'Acme', ['1 Acme→Acme ×2']],
    ['may occur more often', keep('Acme'), 'Acme', 'Acme Acme', []],
    [
      'may have marks of any kind',
      keep('C++ (v2) [x]-{y}|/&~'),
      'C++ (v2) [x]-{y}|/&~',
      'C++',
      ['1 C++ (v2) [x]-{y}|/&~→C++ (v2) [x]-{y}|/&~'],
    ],
    ['is compared composed', keep('Café'), 'Cafe\u0301', 'Café', []],
  ])('%s', (_, term, source, translated, expected) => {
    expect(lost([term], [source], [translated])).toEqual(expected);
  });

  it('within a longer term is not counted for itself', () => {
    const terms = [keep('Acme'), { term: 'Acme Cloud', expected: 'Nube Acme' }];
    expect(lost(terms, ['Acme Cloud'], ['Nube Acme'])).toEqual([]);
    expect(lost(terms, ['Acme Cloud beats Acme'], ['Nube Acme gana'])).toEqual(['1 Acme→Acme']);
    expect(lost(terms, ['Acme'], ['Nube Acme'])).toEqual([]);
  });

  it('shares the occurrences of its translation with terms that have the same', () => {
    const terms = [
      { term: 'firm', expected: 'empresa' },
      { term: 'company', expected: 'empresa' },
    ];
    expect(lost(terms, ['a firm, a company'], ['una empresa'])).toEqual(['1 firm, company→empresa']);
  });
});

describe('a term of a sentence over several cues', () => {
  it('may move to the next or previous cue, once', () => {
    expect(lost([keep('Acme')], ['we like', 'Acme a lot.'], ['Acme', 'nos gusta.'])).toEqual([]);
    expect(lost([keep('Acme')], ['Acme is', 'what we like.'], ['nos gusta', 'Acme.'])).toEqual([]);
    expect(lost([keep('Acme')], ['Acme', 'and', 'Acme'], ['', 'Acme', ''])).toEqual(['3 Acme→Acme']);
  });

  it('may not move beyond the sentence, nor be a part of another term there', () => {
    expect(lost([keep('Acme')], ['I left.', 'Acme?'], ['Acme.', '?'])).toEqual(['2 Acme→Acme']);
    const terms = [keep('Acme'), { term: 'Acme Cloud', expected: 'Nube Acme' }];
    expect(lost(terms, ['Acme and', 'Acme Cloud'], ['y', 'Nube Acme'])).toEqual(['1 Acme→Acme']);
  });
});

describe('placeholders', () => {
  const terms = [keep('Acme'), { term: 'board', expected: 'consejo' }, keep('Ada Fox*')];

  it('stand for kept terms only, are restored where they are, and are missed if they are nowhere', () => {
    const masked = maskTerms(terms, cues('the board of Acme', 'hello', "Ada Foxes' ACME"));
    expect(masked?.lines.map(({ text }) => text)).toEqual(['the board of {T1}', 'hello', "{T2}' {T3}"]);
    const { texts, lost: without } = restoreTerms(['{ t1 } {T9}', '{T2}', null], masked?.hidden ?? []);
    expect(texts).toEqual(['Acme {T9}', 'Ada Foxes', null]);
    expect([...without]).toEqual([2]);
    // One that lacks a brace, and one that is written twice.
    const mangled = restoreTerms(['T1}', 'hello', "{T2}, {T2}' {T3}"], masked?.hidden ?? []);
    expect(mangled.texts[2]).toBe("Ada Foxes, Ada Foxes' ACME");
    expect([...mangled.lost]).toEqual([0]);
  });

  it('are not used without a kept term, and in subtitles that have their own', () => {
    expect(maskTerms(terms, cues('the board'))).toBeNull();
    expect(maskTerms(terms, cues('Acme', '{T1}'))).toBeNull();
  });
});

describe('a name that is spoken in other words', () => {
  const said = (term: string, expected: string, ...texts: string[]) =>
    sayNames([{ term, expected }], cues(...texts)).map(({ text }) => text);

  it('is replaced as a whole word, in any case, over a line break and with any apostrophe', () => {
    expect(
      said(
        'Dr. Müller',
        'Doktor Müller',
        'Frau Dr. Müller!',
        'dr.\nmüller',
        'Dr. Müllerin',
        'Dr. Mu\u0308ller',
      ),
    ).toEqual(['Frau Doktor Müller!', 'Doktor Müller', 'Dr. Müllerin', 'Doktor Müller']);
    expect(said("O'Neil", 'Onil', 'O’Neil')).toEqual(['Onil']);
    expect(said('iPhone', 'Eifon', 'iPhone, IPHONE')).toEqual(['Eifon, IPHONE']);
    expect(said('東京', 'とうきょう', '東京都')).toEqual(['とうきょう都']);
  });

  it('keeps its ending where the term allows one', () => {
    expect(said('Acme*', 'Ekmi*', 'Acme, Acmes')).toEqual(['Ekmi, Ekmis']);
    expect(said('Acme*', 'Ekmi', 'Acmes')).toEqual(['Ekmis']);
  });

  it('is taken as it is written, and is not replaced again', () => {
    expect(said('Cash', '$& $1', 'Cash')).toEqual(['$& $1']);
    const names = [
      { term: 'Ada', expected: 'Ida' },
      { term: 'Ada Fox', expected: 'Ada Foks' },
      { term: 'Ida', expected: 'Uda' },
    ];
    expect(sayNames(names, cues('Ada Fox, Ada')).map(({ text }) => text)).toEqual(['Ada Foks, Ida']);
  });

  it('changes no line without it', () => {
    const lines = cues('hello', 'Mu\u0308ller');
    expect(sayNames([{ term: 'Acme', expected: 'Ekmi' }], lines)).toBe(lines);
  });
});

describe('a translation with other cues than its source', () => {
  it('is compared by time if cues are missing', () => {
    const source = cues('Acme', 'one', 'Acme');
    const [, one, last] = cues('', 'uno', 'Acme');
    expect(
      findLostTerms(
        [keep('Acme')],
        source,
        [one, last].flatMap((cue) => cue ?? []),
      ),
    ).toEqual([{ row: 1, term: 'Acme', expected: 'Acme', missing: 1, text: '' }]);
  });

  it('is compared as a whole if it has other times', () => {
    const translated = cues('uno Acme').map((cue) => ({ ...cue, start_ms: 100 }));
    expect(findLostTerms([keep('Acme')], cues('one', 'Acme', 'Acme'), translated)).toEqual([
      { row: 2, term: 'Acme', expected: 'Acme', missing: 1 },
    ]);
  });
});

describe('a lost term', () => {
  const LOST = { row: 1, term: 'Acme', expected: 'Acme', missing: 1, text: 'by <i>Acmé</i>,\nhe said' };

  it.each([
    [{}, '"Acme" is missing in "by Acmé, he said"; --mask-terms keeps it'],
    [{ is_masked: true }, '"Acme" is missing in "by Acmé, he said"'],
    [{ term: 'firm, Acme' }, '"Acme" is missing in "by Acmé, he said"; --mask-terms keeps it'],
    [{ term: 'board*', expected: 'consejo*' }, '"consejo*" for "board*" is missing in "by Acmé, he said"'],
    [{ missing: 2, is_masked: true, text: undefined }, '"Acme" is missing 2 times in the translation'],
    [{ text: `${'a'.repeat(90)}`, is_masked: true }, `"Acme" is missing in "${'a'.repeat(80)}…"`],
  ] as const)('is described with the line that is there instead: %j', (change, shown) => {
    expect(describeLoss({ ...LOST, ...change })).toBe(shown);
  });
});

/** Terms that are parts of each other, with and without capitals inside, in several scripts. */
const TERMS: readonly Term[] = [
  keep('Acme'),
  keep('Acme Cloud'),
  keep('iPhone*'),
  { term: 'board', expected: 'consejo*' },
  { term: 'Straße', expected: 'улица' },
  { term: '東京', expected: 'Tokio' },
];
const FILLERS = ['the', 'Acmeland', 'boards', 'phone', 'and', '12', '…'];

it('each term that is dropped is reported, and nothing else', () => {
  const word = fc.oneof(
    fc.record({ term: fc.constantFrom(...TERMS), isDropped: fc.boolean() }),
    fc.constantFrom(...FILLERS),
  );
  const cue = fc.array(word, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(
      fc.array(cue, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(' , ', ' – '),
      (texts, gap) => {
        const source = texts.map((words) => words.map((each) => textOf(each, 'term')).join(gap));
        const translated = texts.map((words) =>
          words.flatMap((each) => (isDropped(each) ? [] : textOf(each, 'expected'))).join(gap),
        );
        const expected = texts.flatMap((words, at) =>
          TERMS.flatMap((term) => {
            const missing = words.filter((each) => isDropped(each) && each.term === term).length;
            return missing === 0 ? [] : [{ row: at + 1, term: term.term, missing }];
          }),
        );
        const found = findLostTerms(TERMS, cues(...source), cues(...translated));
        const order = (list: readonly { row: number; term: string; missing: number }[]) =>
          list.map(({ row, term, missing }) => `${row} ${term} ${missing}`).toSorted();
        expect(order(found)).toEqual(order(expected));
      },
    ),
    { numRuns: 300 },
  );
});

type Word = string | { readonly term: Term; readonly isDropped: boolean };

function isDropped(word: Word): word is Exclude<Word, string> {
  return typeof word !== 'string' && word.isDropped;
}

function textOf(word: Word, side: keyof Term): string {
  return typeof word === 'string' ? word : word.term[side].replace('*', '');
}
