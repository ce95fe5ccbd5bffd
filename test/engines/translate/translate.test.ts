import { describe, expect, test } from 'vitest';
import { runApertium, unknownShare } from '../../../src/engines/translate/apertium.ts';
import { takeApart, translate } from '../../../src/engines/translate/translate.ts';
import { createWork, programs, stepEngines, temporaryFolder } from '../workspace.ts';

const lines = (...texts: string[]) =>
  texts.map((text, at) => ({ index: at + 1, start_ms: at * 1000, end_ms: at * 1000 + 900, text }));
const translateLines = async (task: Parameters<typeof translate>[1], work = createWork(temporaryFolder())) =>
  (await translate(await stepEngines(), task, work)).subtitle;
const run = (texts: string[], sourceLanguage: string, targetLanguage: string) =>
  translateLines({ lines: lines(...texts), sourceLanguage, targetLanguage });

describe('translating', () => {
  test('turns English into Spanish, cue by cue, with times kept', async () => {
    const { language, lines: translated } = await run(
      ['He was a young man.', 'The house is red.'],
      'en',
      'es',
    );
    expect(language).toBe('es');
    expect(translated).toEqual([
      { index: 1, start_ms: 0, end_ms: 900, text: 'Era un hombre joven.' },
      { index: 2, start_ms: 1000, end_ms: 1900, text: 'La casa es roja.' },
    ]);
  });

  test('keeps the number of cues, whatever is in them', async () => {
    const texts = [
      '',
      '♪',
      '^x$ [b] {c} \\ /d/ @e <f>',
      'a\n\n\nb',
      '.',
      '*#@',
      'The end',
      '\u0000',
      '1 + 1',
      'é 中 🎬',
    ];
    const { lines: translated } = await run(texts, 'en', 'es');
    expect(translated).toHaveLength(texts.length);
    expect(translated[6]?.text).toBe('El fin');
    for (const line of translated) expect(line.text).not.toMatch(/\n\n/);
  });

  test('leaves unknown words without marks, and marks of the source in place', async () => {
    const { lines: translated } = await run(
      ['I saw the blorptag.', 'The blorptag is *here* at @home #1.'],
      'en',
      'es',
    );
    expect(translated[0]?.text).toBe('Vi el blorptag.');
    expect(translated[1]?.text).toMatch(/^El blorptag .*\*.+\*.*@.*#1\.$/);
  });

  test('takes a variety of a language that has no engine of its own', async () => {
    const { language, lines: translated } = await run(['The house is red.'], 'en-AU', 'es-MX');
    expect(language).toBe('es-MX');
    expect(translated[0]?.text).toBe('La casa es roja.');
  });

  test('goes on in batches and reports them', async () => {
    const work = createWork(temporaryFolder());
    const many = lines(...Array.from({ length: 1_200 }, (_, at) => `The house number ${at} is red.`));
    const task = { lines: many, sourceLanguage: 'en', targetLanguage: 'es' };
    const { lines: translated } = await translateLines(task, work);
    expect(translated.every((line, at) => line.text.includes(String(at)))).toBe(true);
    expect(work.reports.length).toBe(3);
    expect(work.reports.at(-1)?.fraction).toBe(1);
  });

  test('refuses a pair that there is no engine for and names those that there are', async () => {
    await expect(run(['Hello'], 'en', 'ja')).rejects.toMatchObject({
      code: 'LANGUAGE_NOT_SUPPORTED',
      message: expect.stringContaining('en to es'),
    });
  });
});

describe('a source language of auto', () => {
  test.each([
    [
      'en',
      'es',
      ['He was not an ill disposed young man.', 'The weather is good today and we are going home.'],
    ],
    ['es', 'en', ['No era un hombre joven.', 'Hoy hace buen tiempo y nos vamos a casa con los amigos.']],
    ['ca', 'en', ['No era un home jove.', 'Avui fa bon temps i ens en anem a casa amb els amics.']],
  ])('is found to be %s', async (_, target, texts) => {
    const { lines: translated } = await run(texts, 'auto', target);
    expect(translated[0]?.text).not.toBe(texts[0]);
    expect(translated[0]?.text).toMatch(target === 'es' ? /joven/ : /young man/);
  });

  test.each([
    ['German', ['Er war kein schlechter junger Mann.', 'Heute ist das Wetter gut und wir gehen nach Hause.']],
    ['names alone', ['Dashwood.', 'Norland Park!']],
    ['no words', ['♪ ♪', '...']],
  ])('is not guessed from %s', async (_, texts) => {
    await expect(run(texts, 'auto', 'en')).rejects.toMatchObject({
      code: 'LANGUAGE_NOT_SUPPORTED',
      message: expect.stringContaining('--from'),
    });
  });
});

test('the share of unknown words is counted by their marks', async () => {
  const apertium = {
    programs,
    mode: 'eng-spa',
    folder: temporaryFolder(),
    signal: new AbortController().signal,
  };
  expect(unknownShare(await runApertium(apertium, ['The house is red.'], true))).toBe(0);
  expect(unknownShare(await runApertium(apertium, ['Das Haus steht dort drüben.'], true))).toBeGreaterThan(
    0.5,
  );
  expect(unknownShare(['…'])).toBe(1);
});

/** A translation that can be seen: the text in lower case, reversed word by word. */
const translateCue = (text: string) =>
  cueOf(text).restore(cueOf(text).texts.map((part) => part.text.toLowerCase().replace(/[.?!]/g, '')));
const cueOf = (text: string) =>
  takeApart({ text, start_ms: 0, end_ms: 1_000 }, { keepsMarkup: false, punctuates: false });
const textsOf = (text: string) => cueOf(text).texts.map((part) => part.text);

describe('a cue', () => {
  test.each([
    ['Hello there.', 'Hello there.'],
    ['hello there', 'hello there'],
    ['¿Really?', '¿Really?'],
    ['<i>Far away</i>', '<i>Far away</i>'],
    ['{\\an8}Above.', '{\\an8}Above.'],
    ['- Yes.\n- No!', '- Yes.\n- No!'],
  ])('%j keeps its form', (text, expected) => {
    expect(translateCue(text)).toBe(expected);
  });

  test('of one speaker is one text, though it has two rows', () => {
    expect(textsOf('He was not\nan ill man')).toEqual(['He was not an ill man']);
  });

  test('of two speakers is two texts', () => {
    expect(textsOf('- Are you well?\n– Quite.')).toEqual(['Are you well?', 'Quite.']);
  });

  test('without words is left as it is', () => {
    expect(textsOf('♪ ♪')).toEqual([]);
    expect(cueOf('♪ ♪').restore([])).toBe('♪ ♪');
  });

  test('whose translation is longer is wrapped anew', () => {
    const rows = cueOf('Short')
      .restore(['palabra '.repeat(9)])
      .split('\n');
    expect(rows).toHaveLength(2);
  });
});
