/** Tags of cues in translations: in pairs, never more than in the source, and around the same words where they are found. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Translator } from '../../../src/engines/backend.ts';
import { translateSubtitle } from '../../../src/engines/translate/translate.ts';
import { findPairs } from '../../../src/media/subtitles/tags.ts';
import { PLAYER_TAG } from '../../../src/media/subtitles/text.ts';
import { parseSrt } from '../../../src/protocol/srt.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createWork, stepEngines } from '../workspace.ts';

const lines = (...texts: string[]) =>
  texts.map((text, at) => ({ index: at + 1, start_ms: at * 2000, end_ms: at * 2000 + 900, text }));

/** Translates with an engine that answers as given. */
async function translateWith(
  answer: (text: string) => string,
  texts: readonly string[],
  changes: Partial<Translator> = {},
): Promise<string[]> {
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
    translate: async (task) => task.texts.map(({ text }) => answer(text)),
    ...changes,
  };
  const engines = { ...(await stepEngines()), translate: [{ backend, fallback: true }] };
  const task = { lines: lines(...texts), sourceLanguage: 'en', targetLanguage: 'es' };
  const { subtitle } = await translateSubtitle(engines, task, createWork(makeFolder()));
  return subtitle.lines.map(({ text }) => text);
}

const TAGS = new RegExp(PLAYER_TAG, 'gi');
const tagsOf = (text: string) => text.match(TAGS) ?? [];

function expectPairs(text: string, source: string): void {
  const tags = tagsOf(text);
  const named = tags.map((tag) => ({
    key: /\w+/.exec(tag)?.[0].toLowerCase() ?? '',
    isEnd: tag.startsWith('</'),
  }));
  expect(findPairs(named).length * 2, text).toBe(tags.length);
  const left: string[] = [...tagsOf(source)];
  for (const tag of tags) {
    const at = left.indexOf(tag);
    expect(at, `${tag} in ${text}`).toBeGreaterThanOrEqual(0);
    left.splice(at, 1);
  }
}

const piece = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'red',
      'The',
      'car',
      'house.',
      '♪',
      '\n',
      '\n- ',
      '- ',
      '<',
      '>',
      '<<i>b>',
      '中文',
      '🎬',
      '\u200B',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '<i>',
      '</i>',
      '<b>',
      '</b>',
      '<font color="red">',
      '</font>',
      '<I>',
      '</I>',
      '<br>',
      '<BR/>',
      '</s>',
      '<c.loud>',
      '{\\an8}',
      '{\\i1}',
      '{\\i0}',
      '{\\an8\\b1}',
      '<name>',
    ),
  },
);
const cue = fc
  .array(piece, { minLength: 1, maxLength: 12 })
  .map((pieces) => `word ${pieces.join(' ').replace(/ (?=[<{])|(?<=[>}]) /g, '')}`);

describe('tags of a translation', () => {
  test.each([false, true])(
    'are in pairs and never more than in the source, whatever the engine returns (keepsMarkup: %s)',
    async (keepsMarkup) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(cue, { minLength: 1, maxLength: 3 }),
          fc.array(cue, { minLength: 1, maxLength: 6 }),
          async (sources, answers) => {
            let next = 0;
            const answer = (text: string) =>
              next % 3 === 2 ? text : (answers[next++ % answers.length] ?? '');
            const results = await translateWith(answer, sources, { keepsMarkup });
            for (const [at, source] of sources.entries()) expectPairs(results[at] ?? '', source);
          },
        ),
        { numRuns: 80 },
      );
    },
  );

  const WORDS: Readonly<Record<string, string>> = {
    'Red car.': 'Coche rojo.',
    Red: 'Rojo',
    'The red car and the blue house.': 'El coche rojo y la casa azul.',
    red: 'rojo',
    blue: 'azul',
    'Stop! he said.': '¡Para!, dijo él.',
    'Stop!': '¡Para!',
    'Where is it?': '¿Dónde está?',
    'Here.': 'Aquí.',
    'The red and the red.': 'El rojo y el rojo.',
  };
  const translate = (text: string) => WORDS[text] ?? text;

  test.each([
    ['<font color="#ff0000">Red</font> car.', 'Coche <font color="#ff0000">rojo</font>.'],
    ['The <b>red</b> car and the <i>blue</i> house.', 'El coche <b>rojo</b> y la casa <i>azul</i>.'],
    [
      'The <b>red</b> car and the <i><u>blue</u></i> house.',
      'El coche <b>rojo</b> y la casa <i><u>azul</u></i>.',
    ],
    ['<i>Stop!</i> he said.', '<i>¡Para!</i>, dijo él.'],
    ['<i>Red\ncar.</i>', '<i>Coche rojo.</i>'],
    ['- <i>Where is it?</i>\n- <b>Here.</b>', '- <i>¿Dónde está?</i>\n- <b>Aquí.</b>'],
    ['<i>- Where is it?\n- Here.</i>', '<i>- ¿Dónde está?\n- Aquí.</i>'],
    ['- Where <i>is it?\n- Here.</i>', '- ¿Dónde está?\n- Aquí.'],
    ['{\\an8}<i>Red</i> car.', '{\\an8}Coche <i>rojo</i>.'],
    ['{\\i1}Red{\\i0} car.', 'Coche {\\i1}rojo{\\i0}.'],
    ['{\\an8\\i1}Red{\\i0} car.', '{\\an8}Coche {\\i1}rojo{\\i0}.'],
    ['{\\i1}Red car.', '{\\i1}Coche rojo.'],
    ['<i>Red car.', 'Coche rojo.'],
    ['Red car.</i>', 'Coche rojo.'],
    ['The <i>red</i> and the red.', 'El rojo y el rojo.'],
  ])('are around the same words: %j', async (source, expected) => {
    expect(await translateWith(translate, [source])).toEqual([expected]);
  });

  test('are left out in pairs if their words cannot be translated by themselves', async () => {
    const onlyWhole = (text: string) => {
      if (text === 'Red') throw new Error('too short');
      return translate(text);
    };
    expect(await translateWith(onlyWhole, ['<i>Red</i> car.'])).toEqual(['Coche rojo.']);
  });

  test.each([
    ['<i>Red</i> car.', 'Coche <i>rojo</i>.', 'Coche <i>rojo</i>.'],
    ['<i>Red</i> car.', 'Coche <i>rojo.', 'Coche rojo.'],
    ['<i>Red</i> car.', 'Coche <i>ro</i><i>jo</i>.', 'Coche <i>ro</i>jo.'],
    ['<i>Red</i> car.', '<b>Coche</b> rojo.', 'Coche rojo.'],
    ['<i>Red car.</i>', 'Coche rojo.', '<i>Coche rojo.</i>'],
    ['{\\an8}<i>Red car.</i>', '<i>Coche rojo.</i>', '{\\an8}<i>Coche rojo.</i>'],
    ['<font color="#ff0000">Red</font> car.', 'Coche <font color="#ff0000">rojo.', 'Coche rojo.'],
  ])('of an engine that keeps markup are completed or left out: %j, %j', async (source, answer, expected) => {
    expect(await translateWith(() => answer, [source], { keepsMarkup: true })).toEqual([expected]);
  });

  test.each([false, true])('that break lines are line breaks (keepsMarkup: %s)', async (keepsMarkup) => {
    const sent: string[] = [];
    const record = (text: string) => {
      sent.push(text);
      return text;
    };
    const source = 'First row<br/>second row<BR>third row.<br />';
    const [text] = await translateWith(record, [source], { keepsMarkup });
    expect(sent).toEqual([
      `First row${keepsMarkup ? '\n' : ' '}second row${keepsMarkup ? '\n' : ' '}third row.`,
    ]);
    expect(text?.replaceAll('\n', ' ')).toBe('First row second row third row.');
  });

  test('of a subtitle of Apertium are around the same words, or are left out in pairs', async () => {
    const path = new URL('../../fixtures/cases/half-tags.en.srt', import.meta.url);
    const source = parseSrt(readFileSync(path, 'utf8'));
    const task = { lines: source, sourceLanguage: 'en', targetLanguage: 'es' };
    const { subtitle } = await translateSubtitle(await stepEngines(), task, createWork(makeFolder()));
    for (const [at, { text }] of subtitle.lines.entries()) expectPairs(text, source[at]?.text ?? '');
    const [red, both, , dialogue, rows] = subtitle.lines.map(({ text }) => text.replaceAll('\n', ' '));
    expect(red).toBe('Coche <font color="#ff0000">rojo</font>.');
    expect(both).toBe('El coche <b>rojo</b> y la casa <i>azul</i>.');
    expect(dialogue).toMatch(/^- <font color=yellow>.*\?<\/font> - <font color=cyan>Aquí\.<\/font>$/);
    expect(rows).toMatch(/^Primera? .* segund[oa] .* tercer/);
  });
});
