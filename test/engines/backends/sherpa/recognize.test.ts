import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BackendParts } from '../../../../src/engines/backends/parts.ts';
import { findTokenizing } from '../../../../src/engines/backends/sherpa/hotwords.ts';
import { openModelFolder } from '../../../../src/engines/backends/sherpa/model.ts';
import { findModel, RECOGNIZERS } from '../../../../src/engines/backends/sherpa/model-types.ts';
import {
  createSherpaRecognizer,
  phrasesOf,
  timeWords,
} from '../../../../src/engines/backends/sherpa/recognize.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { createWork } from '../../workspace.ts';
import { createParts, soundFile } from '../user-program.ts';
import { writeEmptyModel, writeTinyQwen, writeTinyRecognizer, writeTinyTransducer } from './tiny-models.ts';

async function create(more: object = {}, parts: BackendParts = createParts()) {
  const folder = writeTinyRecognizer(join(makeFolder(), 'tiny-en'));
  const recognizer = await createSherpaRecognizer({ type: 'sherpa', folder, ...more }, parts);
  onTestFinished(() => recognizer.close());
  return recognizer;
}

test('recognizes short segments in one range, and times each word and names its segment', async () => {
  const folder = makeFolder();
  const voice = await soundFile(folder, 4, [
    [0.5, 0.8],
    [1.3, 1.6],
    [3, 3.3],
  ]);
  const segments = [
    { start: 0.5, end: 1.6 },
    { start: 3, end: 3.3 },
  ];
  const work = createWork(folder);
  const recognizer = await create();
  expect(recognizer.name).toBe('sherpa tiny-en');
  const result = await recognizer.recognize({ voice, segments, language: 'en-GB' }, work);
  expect(result).toMatchObject({ language: 'en', punctuated: false });
  const { words } = result;
  expect(words.map(({ text, segment }) => `${text} ${segment}`)).toEqual(['ba 0', 'ba 0', 'ba 1']);
  // A frame of this model is 10 ms, and its window reaches some frames ahead.
  for (const [at, start] of [0.5, 1.3, 3].entries()) expect(words[at]?.start).toBeCloseTo(start, 1);
  expect(work.reports.at(-1)?.fraction).toBe(1);
  expect(work.reports).toHaveLength(1);
});

test('keeps the languages that the entry names, and the first for an automatic choice; finds no words in silence', async () => {
  const recognizer = await create({ languages: ['es', 'fr'] });
  const work = createWork(makeFolder());
  expect(await recognizer.languages(work)).toEqual(['es', 'fr']);
  const voice = await soundFile(work.folder, 1, []);
  const segments = [{ start: 0, end: 1 }];
  const { language, words } = await recognizer.recognize({ voice, segments, language: 'auto' }, work);
  expect(language).toBe('es');
  expect(words).toEqual([]);
});

test('needs languages if nothing determines them', async () => {
  const folder = writeTinyRecognizer(join(makeFolder(), 'mine'));
  await expect(createSherpaRecognizer({ type: 'sherpa', folder }, createParts())).rejects.toMatchObject({
    permanent: true,
    message: expect.stringContaining(
      'sherpa mine: its files do not name its languages; add them in engines.json',
    ),
  });
});

test('a transducer expects the terms of a file, whose other columns and unknown words do not matter', async () => {
  const folder = writeTinyTransducer(join(makeFolder(), 'tiny-en'));
  const work = createWork(makeFolder());
  const voice = await soundFile(work.folder, 3, [[0.5, 1.5]]);
  const terms = join(makeFolder(), 'terms.csv');
  const hear = async () => {
    const recognizer = await createSherpaRecognizer({ type: 'sherpa', folder, terms }, createParts());
    onTestFinished(() => recognizer.close());
    const segments = [{ start: 0.5, end: 1.5 }];
    const { words } = await recognizer.recognize({ voice, segments, language: 'en' }, work);
    return words.map(({ text }) => text);
  };
  writeFileSync(terms, 'term,es\nDr. Xyz,=\nBo*,=\n');
  expect(await hear()).toEqual(['bo']);
  writeFileSync(terms, 'term,es\n');
  expect(await hear()).toEqual(['ba']);
});

test('the terms of a transducer are cut into Chinese characters where its tokens are characters', async () => {
  const folder = writeEmptyModel(join(makeFolder(), 'tiny-zh'), `${CODERS} joiner.onnx`);
  writeFileSync(join(folder, 'tokens.txt'), '<blk> 0\n巴 1\n');
  const found = await findModel(await openModelFolder(folder), RECOGNIZERS);
  expect((await findTokenizing(found))?.config).toEqual({ modelingUnit: 'cjkchar' });
});

test('models that take no terms say so, and hear the same', async () => {
  const folder = writeTinyTransducer(join(makeFolder(), 'tiny-en'));
  rmSync(join(folder, 'bpe.vocab'));
  const terms = join(makeFolder(), 'terms.csv');
  writeFileSync(terms, 'term,es\nbo,=\n');
  const warnings: string[] = [];
  const parts = createParts({ warn: (text) => warnings.push(text) });
  const recognizer = await createSherpaRecognizer({ type: 'sherpa', folder, terms }, parts);
  onTestFinished(() => recognizer.close());
  await create({ terms }, parts);
  const notUsed =
    'sherpa tiny-en: "terms" in engines.json are not used; only transducers with a file bpe.vocab take them';
  expect(warnings).toEqual([notUsed, notUsed]);
  const work = createWork(makeFolder());
  const voice = await soundFile(work.folder, 3, [[0.5, 1.5]]);
  const task = { voice, segments: [{ start: 0.5, end: 1.5 }], language: 'en' };
  expect((await recognizer.recognize(task, work)).words.map(({ text }) => text)).toEqual(['ba']);
});

test('Qwen3-ASR is told the language of the task, and detects it otherwise', async () => {
  const folder = writeTinyQwen(join(makeFolder(), 'tiny-qwen'));
  const recognizer = await createSherpaRecognizer({ type: 'sherpa', folder }, createParts());
  onTestFinished(() => recognizer.close());
  const work = createWork(makeFolder());
  const voice = await soundFile(work.folder, 3, [[0.5, 2.5]]);
  const hear = async (language: string) => {
    const { words } = await recognizer.recognize(
      { voice, segments: [{ start: 0.5, end: 2.5 }], language },
      work,
    );
    return words.map(({ text }) => text);
  };
  expect(await hear('es-MX')).toEqual(['hola']);
  expect(await hear('auto')).toEqual(['ba']);
});

test.each([
  [
    'cohere-transcribe',
    'auto',
    [
      'sherpa cohere-transcribe cannot detect the language of speech and took it for English; set another with --from (source_language)',
    ],
  ],
  ['cohere-transcribe', 'es', []],

  ['whisper-tiny', 'auto', []],
])('of a model in %s, the language %s gives the remarks %j', async (name, language, remarks) => {
  const folder = writeEmptyModel(join(makeFolder(), name), CODERS);
  const said: string[] = [];
  const recognizer = await createSherpaRecognizer(
    { type: 'sherpa', folder },
    createParts({ warn: (message) => void said.push(message) }),
  );
  onTestFinished(() => recognizer.close());
  const work = createWork(makeFolder(), AbortSignal.abort());
  const voice = await soundFile(work.folder, 1, []);
  // It would load the model afterwards.
  await expect(recognizer.recognize({ voice, segments: [], language }, work)).rejects.toThrow('aborted');
  expect(said).toEqual(remarks);
});

const CODERS = 'encoder.onnx decoder.onnx tokens.txt';

// Its weights are not here, but sherpa gets far enough to open the file that the type needs first.
test('passes the files of a model to sherpa', async () => {
  const folder = writeEmptyModel(join(makeFolder(), 'nemo-parakeet-en'), `${CODERS} joiner.onnx`);
  const recognizer = await createSherpaRecognizer({ type: 'sherpa', folder }, createParts());
  onTestFinished(() => recognizer.close());
  const work = createWork(makeFolder());
  const voice = await soundFile(work.folder, 1, []);
  const run = recognizer.recognize({ voice, segments: [{ start: 0, end: 1 }], language: 'auto' }, work);
  await expect(run).rejects.toMatchObject({
    permanent: true,
    message: expect.stringContaining('Load model from encoder.onnx failed'),
  });
});

test('phrases that Whisper times keep their times within the range', () => {
  const phrases = [
    { text: ' one', start: 0, end: 1.5 },
    { text: ' two', start: 2, end: 9 },
  ];
  const utterance = { text: ' one two', tokens: [' one', ' two'], timestamps: [], phrases };
  expect(phrasesOf(utterance, { start: 10, end: 14 })).toEqual([
    { text: ' one', start: 10, end: 11.5, words: [] },
    { text: ' two', start: 12, end: 14, words: [] },
  ]);
});

describe('the times of words', () => {
  const range = { start: 10, end: 13 };

  test('are those of their tokens', () => {
    const tokens = ['▁Un', 'be', 'liev', 'able', '.', '▁No'];
    const timestamps = [0, 0.2, 0.4, 0.5, 0.7, 2];
    expect(timeWords({ text: 'unbelievable. No', tokens, timestamps }, range)).toEqual([
      { text: 'unbelievable.', start: 10, end: 11 },
      { text: 'No', start: 12, end: 12.3 },
    ]);
  });

  test('never overlap', () => {
    const words = timeWords({ text: 'a b', tokens: [' a', ' b'], timestamps: [0, 0.1] }, range);
    expect(words.map(({ end }) => end)).toEqual([10.1, 10.4]);
  });

  test.each([
    ['no token has a time', { text: 'a b', tokens: ['a', 'b'], timestamps: [] }],
    ['the tokens are other text', { text: '20 €', tokens: ['twenty', ' euros'], timestamps: [0, 1] }],
    ['there are no tokens', { text: 'a', tokens: [], timestamps: [] }],
  ])('are unknown if %s', (_, utterance) => {
    expect(timeWords(utterance, range)).toEqual([]);
  });
});
