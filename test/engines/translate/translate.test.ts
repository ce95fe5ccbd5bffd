import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Translator } from '../../../src/engines/backend.ts';
import type { StepEngines } from '../../../src/engines/choose.ts';
import { likeSource, takeApart, translateSubtitle } from '../../../src/engines/translate/translate.ts';
import { createPrograms } from '../../../src/media/programs/programs.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { script } from '../backends/user-program.ts';
import { createWork, stepEngines } from '../workspace.ts';

const lines = (...texts: string[]) =>
  texts.map((text, at) => ({ index: at + 1, start_ms: at * 1000, end_ms: at * 1000 + 900, text }));
const translateLines = async (
  task: Parameters<typeof translateSubtitle>[1],
  work = createWork(makeFolder()),
  engines?: StepEngines,
) => (await translateSubtitle(engines ?? (await stepEngines()), task, work)).subtitle;
const run = (texts: string[], sourceLanguage: string, targetLanguage: string, engines?: StepEngines) =>
  translateLines({ lines: lines(...texts), sourceLanguage, targetLanguage }, undefined, engines);

/** A program in place of Apertium. @param translate what it does with a file */
function apertiumThat(translate: string, pairs = 'cat-eng\\neng-spa'): Promise<StepEngines> {
  const program = script(`[ "$1" = -l ] && printf '${pairs}\\n' && exit\n${translate}`, 'apertium');
  return stepEngines(null, createPrograms(`${dirname(program)}:${process.env.PATH}`));
}

describe('translating', () => {
  test('turns English into Spanish, whatever their varieties, cue by cue with unchanged times, and keeps addresses, placeholders and numbers', async () => {
    const kept = 'https://example.com/a?b=c {name} <x> %s info@example.org @anna #HappyDay 2024'.split(' ');
    const [address, name, mark, value, mail, ...others] = kept;
    const texts = [
      `Visit ${address} or ${name}, ${mark} and ${value}: mail ${mail} to ${others.join(' in ')}.`,
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
      'I saw the blorptag.',
      'The blorptag is *here* at @home #1.',
    ];
    const { language, lines: translated } = await run(texts, 'en-AU', 'es-MX');
    expect(language).toBe('es-MX');
    expect(translated).toEqual(lines(...texts).map((line) => ({ ...line, text: expect.any(String) })));
    expect(translated[7]).toEqual({ index: 8, start_ms: 7000, end_ms: 7900, text: 'El fin' });
    for (const line of translated) expect(line.text).not.toMatch(/\n\n/);
    // Unknown words have no marks, and those of the source are kept.
    expect(translated.at(-2)?.text).toBe('Vi el blorptag.');
    expect(translated.at(-1)?.text).toMatch(/^El blorptag .*\*.+\*.*@.*#1\.$/);
    const row = translated[0]?.text.replaceAll('\n', ' ') ?? '';
    for (const part of kept) expect(row.split(part)).toHaveLength(2);
    expect(row).toMatch(/^Visita /);
  });

  test('continues in batches and reports them', async () => {
    const work = createWork(makeFolder());
    const many = lines(...Array.from({ length: 501 }, (_, at) => `House ${at}.`));
    const task = { lines: many, sourceLanguage: 'en', targetLanguage: 'es' };
    const { lines: translated } = await translateLines(task, work, await apertiumThat('cat "$3"'));
    expect(translated.every((line, at) => line.text.includes(String(at)))).toBe(true);
    expect(work.reports.length).toBe(2);
    expect(work.reports.at(-1)?.fraction).toBe(1);
  });

  test('refuses a pair without an engine and names the available ones', async () => {
    await expect(run(['Hello'], 'en', 'ja')).rejects.toMatchObject({
      code: 'LANGUAGE_NOT_SUPPORTED',
      message: expect.stringContaining('en to es'),
    });
  });
});

/** A translator that records what it received, and answers as instructed. */
function fakeTranslator(answer: (text: string) => string, changes: Partial<Translator> = {}) {
  const received: string[][] = [];
  const continued: boolean[][] = [];
  const backend: Translator = {
    name: 'fake',
    concurrency: 1,
    keepsMarkup: false,
    punctuates: true,
    seesNeighbours: false,
    supports: async () => true,
    pairs: async () => [],
    detect: null,
    close: async () => {},
    translate: async ({ texts }) => {
      continued.push(texts.map(({ continues = false }) => continues));
      received.push(texts.map(({ text }) => text));
      return texts.map(({ text }) => answer(text));
    },
    ...changes,
  };
  const translateWith = async (texts: string[]) => {
    const engines = { ...(await stepEngines()), translate: [{ backend, fallback: true }] };
    const task = { lines: lines(...texts), sourceLanguage: 'en', targetLanguage: 'es' };
    return (await translateSubtitle(engines, task, createWork(makeFolder()))).subtitle.lines.map(
      ({ text }) => text,
    );
  };
  return { received, continued, translateWith };
}

describe('a sentence that spans cues', () => {
  const texts = ['<i>He was not an</i>', 'ill disposed\nyoung man.', 'Yes.'];
  const answers: Record<string, string> = {
    'He was not an ill disposed young man.': 'No era un joven de mala disposición.',
    'He was not an': 'No era un',
    'ill disposed young man.': 'hombre malo.',
    'Yes.': 'Sí.',
  };

  test('is translated as one, and distributed over its cues', async () => {
    const { received, translateWith } = fakeTranslator((text) => answers[text] ?? '');
    expect(await translateWith(texts)).toEqual(['<i>No era un</i>', 'joven de mala disposición.', 'Sí.']);
    expect(received).toEqual([['He was not an ill disposed young man.', 'Yes.']]);
  });

  test('is translated cue by cue if its translation has fewer words than cues', async () => {
    const { received, translateWith } = fakeTranslator((text) =>
      text.length > 30 ? 'Joven.' : (answers[text] ?? ''),
    );
    expect(await translateWith(texts)).toEqual(['<i>No era un</i>', 'hombre malo.', 'Sí.']);
    expect(received[1]).toEqual(['He was not an', 'ill disposed young man.']);
  });

  test('is sent cue by cue to an engine that sees its neighbours, with where it goes on', async () => {
    const { received, continued, translateWith } = fakeTranslator((text) => answers[text] ?? '', {
      seesNeighbours: true,
    });
    await translateWith(texts);
    expect(received).toEqual([['He was not an', 'ill disposed young man.', 'Yes.']]);
    expect(continued).toEqual([[true, false, false]]);
  });
});

describe('text that a translation must not change', () => {
  const shout = (text: string) => text.toUpperCase();

  test('is not sent to an engine that changes it', async () => {
    const { received, translateWith } = fakeTranslator(shout);
    const texts = [
      'Go to https://example.com/a, {name}!',
      'https://example.com/b',
      'In 2024.',
      '- Hi %s.\n- <x>?',
    ];
    expect(await translateWith(texts)).toEqual([
      'GO TO https://example.com/a, {name}!',
      'https://example.com/b',
      'IN 2024.',
      '- HI %s.\n- <x>?',
    ]);
    expect(received).toEqual([
      ['Go to https://example.com/a, {name}!', 'In 2024.', 'Hi %s.'],
      ['Go to', 'Hi'],
    ]);
  });

  test('gets no capital at the start of a sentence', () => {
    expect(likeSource('{name} es joven', 'The {name} is young.')).toBe('{name} es joven.');
    expect(likeSource('es joven', 'The man.')).toBe('Es joven.');
  });

  test('does not include numbers for engines that keep markup, which write them as their language does', async () => {
    const { translateWith } = fakeTranslator(() => 'Bei 1.000.', { keepsMarkup: true });
    expect(await translateWith(['At 1,000.'])).toEqual(['Bei 1.000.']);
  });
});

describe('a source language of auto', () => {
  test('is the one whose pair knows the words', async () => {
    const knowing = `[ "$1" = -u ] && echo "by $2" && exit\n[ "$1" = cat-eng ] && cat "$2" || sed 's/[a-z]\\+/*&/g' "$2"`;
    const { lines: translated } = await run(['era un home jove'], 'auto', 'en', await apertiumThat(knowing));
    expect(translated[0]?.text).toBe('by cat-eng');
  });

  test.each([
    ['text whose words no pair knows', 'Er war kein junger Mann.', `sed 's/[a-z]\\+/*&/g' "$2"`],
    ['text whose words two pairs know', 'He was a young man.', 'cat "$2"'],
    ['no words', '♪ ♪', 'cat "$2"'],
  ])('is not guessed from %s', async (_, text, translate) => {
    await expect(run([text], 'auto', 'en', await apertiumThat(translate))).rejects.toMatchObject({
      code: 'LANGUAGE_NOT_SUPPORTED',
      message: expect.stringContaining('--from'),
    });
  });
});

/** A translation that can be seen: the text in lower case, reversed word by word. */
const translateCue = (text: string) =>
  cueOf(text).restore(
    cueOf(text).texts.map((part) => likeSource(part.text.toLowerCase().replace(/[.?!]/g, ''), part.text)),
  );
const cueOf = (text: string) => takeApart({ text, start_ms: 0, end_ms: 1_000 }, { keepsMarkup: false });
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

  test('without words is not changed', () => {
    expect(textsOf('♪ ♪')).toEqual([]);
    expect(cueOf('♪ ♪').restore([])).toBe('♪ ♪');
  });

  test('whose translation is longer is wrapped again', () => {
    const rows = cueOf('Short')
      .restore(['palabra '.repeat(9)])
      .split('\n');
    expect(rows).toHaveLength(2);
  });
});

test('a language without a pair is translated through another one, and the result says which', async () => {
  const engines = await apertiumThat(`sed "s/[^ ]$/& $2/" "$3"`, 'eng-spa\\nspa-por');
  const task = {
    lines: lines('see https://example.com/a'),
    sourceLanguage: 'en',
    targetLanguage: 'pt-BR',
  };
  const { subtitle, use } = await translateSubtitle(engines, task, createWork(makeFolder()));
  expect(use.engine).toBe('apertium through es');
  expect(subtitle.lines[0]?.text).toBe('see https://example.com/a eng-spa spa-por');
});
