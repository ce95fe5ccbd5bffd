import { describe, expect, it } from 'vitest';
import { type AttentionSubject, findAttention } from '../../../src/batch/report/attention.ts';

const cue = (number: number, text: string) => ({
  number,
  row: number * 4 - 2,
  start_ms: number * 1000,
  end_ms: number * 1000 + 900,
  text,
});

/** The codes of each cue of a translation. */
function codesOf(pairs: readonly (readonly [string, string | null])[], more: Partial<AttentionSubject> = {}) {
  const places = findAttention({
    file: '/out/talk.es.srt',
    source: pairs.map(([from], at) => cue(at + 1, from)),
    cues: pairs.flatMap(([, to], at) => (to === null ? [] : [cue(at + 1, to)])),
    sourceLanguage: 'en',
    provenance: null,
    ...more,
  });
  return places.map(({ start_ms, reasons }) => [
    (start_ms ?? 0) / 1000,
    reasons.map(({ code }) => code).join(' '),
  ]);
}

describe('a translation', () => {
  it.each([
    ['The bridge of 1984 was 1,200 m long.', 'El puente de 1984 medía 1.200 m.', ''],
    ['The bridge of 1984 is long.', 'El puente de 1948 es largo.', 'NUMBER'],
    ['It has 3 doors.', 'Tiene tres puertas.', ''],
    ['Write to info@example.org today.', 'Escribe hoy a info@example.org.', ''],
    ['See https://example.org/a.', 'Vea la página.', 'ADDRESS'],
    ['Then Anna Karenina came in.', 'Entonces entró Anna Karenina.', ''],
    ['Then Anna Karenina came in.', 'Entonces entró Ana.', 'NAME'],
    ['We use the iPhone every day.', 'Usamos el teléfono cada día.', 'NAME'],
    ['In March we went to Spain.', 'En marzo fuimos a España.', ''],
    ['Please open the door.', 'please open the door', 'EQUAL'],
    ['OK.', 'OK.', ''],
    ['♪ ♪', '♪ ♪', ''],
    ['Please open the door.', ' ', 'MISSING'],
  ])('%j as %j: %s', (from, to, codes) => {
    expect(codesOf([[from, to]])).toEqual(codes === '' ? [] : [[1, codes]]);
  });

  it('that is far longer than others of its file needs a person', () => {
    const usual = ['This is a usual sentence.', 'Esta es una frase corriente.'] as const;
    const loop = 'Esta es una frase, y es una frase, y es una frase, y es una frase, y así.';
    expect(codesOf([usual, usual, ['This is a usual sentence.', loop]])).toEqual([[3, 'LENGTH']]);
  });

  it('of which a cue is missing is reported at the time of that cue', () => {
    expect(
      codesOf([
        ['One apple.', 'Una manzana.'],
        ['Two apples.', null],
      ]),
    ).toEqual([[2, 'MISSING']]);
  });

  it('of another file is not compared', () => {
    const source = [cue(90, 'Entirely different words.'), cue(91, 'Of another film.')];
    expect(
      codesOf(
        [
          ['x', 'Hola a todos.'],
          ['y', 'Hola.'],
        ],
        { source },
      ),
    ).toEqual([]);
  });

  it('from German is not searched for names, since all nouns have capitals', () => {
    const pair = ['Dann kam Anna Karenina herein.', 'Entonces entró ella.'] as const;
    expect(codesOf([pair], { sourceLanguage: 'de-AT' })).toEqual([]);
  });

  it('whose times were moved still belongs to its original', () => {
    const cues = [{ ...cue(1, 'Fue entonces.'), start_ms: 1_080 }, cue(2, 'Hola.')];
    const pairs = [
      ['It was in 1999.', null],
      ['Hello.', null],
    ] as const;
    expect(codesOf(pairs, { cues })).toEqual([[1.08, 'NUMBER']]);
  });
});

it('a lost term needs a person until it is in the text', () => {
  const lost_terms = [{ file: '/out/talk.es.srt', row: 1, term: 'Acme*', expected: 'Acme*', missing: 1 }];
  const provenance = { engines: [], cues: [], lost_terms };
  expect(codesOf([['At Acme we work.', 'Trabajamos.']], { provenance })).toEqual([[1, 'TERM_LOST']]);
  expect(codesOf([['At Acme we work.', 'Trabajamos en acmes.']], { provenance })).toEqual([]);
});

it.each<[string, number, string]>([
  ['an iPhone and an iPhone', 1, 'un iPhone'],
  ['an iPhone', 1, 'un IPHONE'],
  ['an iPhone', 1, 'un iPhones'],
])('a term of "%s", missing %i times, is still lost in "%s"', (from, missing, to) => {
  const lost_terms = [{ file: '/out/talk.es.srt', row: 1, term: 'iPhone', expected: 'iPhone', missing }];
  const provenance = { engines: [], cues: [], lost_terms };
  const reasons = codesOf([[from, to]], { provenance })
    .flat()
    .join(' ');
  expect(reasons).toContain('TERM_LOST');
  expect(codesOf([[from, from]], { provenance })).not.toContainEqual([
    1,
    expect.stringContaining('TERM_LOST'),
  ]);
});

it('of several terms with one translation, those are lost that are not said', () => {
  const lost_terms = [{ file: '/out/a.srt', row: 1, term: 'car, auto', expected: 'coche', missing: 1 }];
  const provenance = { engines: [], cues: [], lost_terms };
  expect(codesOf([['A car and an auto.', 'Un coche y nada.']], { provenance })).toEqual([[1, 'TERM_LOST']]);
  expect(codesOf([['A car and an auto.', 'Un coche y un coche.']], { provenance })).toEqual([]);
});

it('speech that is cut off or fast needs a person, and so does another engine', () => {
  const fit = { cues: [1], seconds: 3, allowed_seconds: 2 };
  const cues = [
    { ...fit, fit: 'cut', speed: 1, tempo: 1.59, cut_seconds: 0.4 },
    { ...fit, cues: [2], fit: 'tempo', speed: 1, tempo: 1.3, cut_seconds: 0 },
    { ...fit, cues: [3], fit: 'tempo', speed: 1, tempo: 1.1, cut_seconds: 0 },
    { ...fit, cues: [4], fit: 'shift', speed: 1, tempo: 1, cut_seconds: 0, shift_seconds: -0.71 },
  ] as const;
  const engines = [{ step: 'speak', engine: 'espeak-ng', skipped: ['sherpa kokoro'] }] as const;
  const places = findAttention({
    ...{ file: null, cues: [], source: null, sourceLanguage: null },
    provenance: { cues, engines },
  });
  expect(places.map(({ cue: number, reasons }) => [number, reasons[0]?.code])).toEqual([
    [1, 'CUT'],
    [2, 'FAST'],
    [4, 'SHIFT'],
    [null, 'ENGINE'],
  ]);
});

it('a recognized text that was dropped, and a voice that is left in the background, need a person', () => {
  const drop = { start_ms: 2_500, end_ms: 4_000, text: 'Thank you. Thank you.', reason: 'loop' } as const;
  const engines = [
    { step: 'separate', engine: 'builtin', skipped: [], residue: -7 },
    { step: 'recognize', engine: 'command whisper', skipped: [], dropped: [drop, { ...drop, part: 2 }] },
  ] as const;
  const places = findAttention({
    ...{ file: '/out/talk.en.srt', cues: [], source: null, sourceLanguage: 'en' },
    provenance: { cues: [], engines },
  });
  const dropped = '"Thank you. Thank you." was recognized and dropped, because it repeats itself';
  const voice =
    'the original voice is heard in the background, only 7 dB quieter than it was, because the music is about as loud';
  // The times of a part are not those of the whole.
  expect(places.map(({ start_ms, text, reasons }) => [start_ms, text, reasons])).toEqual([
    [null, drop.text, [{ code: 'DROPPED', detail: dropped }]],
    [2_500, drop.text, [{ code: 'DROPPED', detail: dropped }]],
    [null, null, [{ code: 'VOICE', detail: voice }]],
  ]);
});

describe('a dub', () => {
  const heardAs = (text: string, cues = [cue(1, '<i>Buenos días</i> a todos.'), cue(9, 'Adiós.')]) => {
    const heard = { cues: text === '' ? [] : [{ start_ms: 1000, end_ms: 1900, text }], language: 'es' };
    const places = findAttention({
      ...{ file: '/out/talk.es.srt', cues, source: null, sourceLanguage: null, provenance: null, heard },
    });
    return places.map(({ cue: number, reasons: [first] }) => [number, first?.code, first?.detail]);
  };

  it('in which most words of a cue are heard is fine, whatever their case and accents', () => {
    expect(heardAs('BUENOS DIAS, todos')).toEqual([]);
  });

  it('in which other words are heard needs a person, and so does silence', () => {
    expect(heardAs('muchas gracias')).toEqual([[1, 'HEARD', '"muchas gracias" is heard instead']]);
    expect(heardAs('')).toEqual([[1, 'HEARD', 'nothing of it is heard']]);
  });

  it('is compared in languages without spaces too', () => {
    const cues = [cue(1, '今日はとても良い天気です。')];
    expect(heardAs('今日はとても良い天気です', cues)).toEqual([]);
    expect(heardAs('電車が遅れています', cues)).toHaveLength(1);
  });
});

it('a cue whose translation back differs far more than usual needs a person', () => {
  const source = [
    'The bridge was built in a year.',
    'The river is wide and slow.',
    'Everybody walked across it.',
  ];
  const back = ['The bridge was made in a year.', 'The river is broad and slow.', 'He sold seven old lamps.'];
  const pairs = source.map((text) => [text, 'Una frase corriente de aquí.'] as const);
  const made = back.map((text, at) => cue(at + 1, text));
  expect(codesOf(pairs, { back: made })).toEqual([[3, 'BACK']]);
  expect(codesOf(pairs)).toEqual([]);
});
