import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openModel } from '../../../../src/engines/backends/sherpa/model.ts';
import {
  type ModelType,
  RECOGNIZERS,
  SPEAKERS,
} from '../../../../src/engines/backends/sherpa/model-types.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { createParts } from '../user-program.ts';
import { writeEmptyModel, writeTinyRecognizer, writeTinyVoice } from './tiny-models.ts';

const open = (folder: string, types: readonly ModelType[] = SPEAKERS, env = {}) =>
  openModel({ folder }, types, createParts({ env }));
const voice = () => writeTinyVoice(join(makeFolder(), 'tiny'));

test('a folder may be below the home folder', async () => {
  const folder = voice();
  const opened = await open('~/tiny', SPEAKERS, { HOME: dirname(folder) });
  expect(opened.name).toBe('sherpa tiny');
  expect(opened.paths.model).toBe(join(folder, 'model.onnx'));
});

test('the memory is estimated from the weights, also from those beside their model', async () => {
  const folder = writeEmptyModel(
    join(makeFolder(), 'cohere'),
    'encoder.onnx encoder.onnx.data decoder.onnx tokens.txt',
  );
  const before = (await open(folder, RECOGNIZERS)).bytes;
  writeFileSync(join(folder, 'encoder.onnx.data'), Buffer.alloc(1_000_000));
  expect((await open(folder, RECOGNIZERS)).bytes - before).toBe(1_500_000);
});

test.each([
  ['/no/such/model', 'sherpa model: "folder" in engines.json does not exist (/no/such/model)'],
  ['/etc/hostname', '"folder" in engines.json is a file, not a folder'],
])('%s is not a folder, which is a permanent failure', async (folder, message) => {
  await expect(open(folder)).rejects.toMatchObject({
    code: 'ENGINE_ERROR',
    permanent: true,
    message: expect.stringContaining(message),
  });
});

test('a model for the other step is reported as such', async () => {
  await expect(open(voice(), RECOGNIZERS)).rejects.toThrow(
    'sherpa tiny: the folder has a model for the step "speak"; move the entry there',
  );
  const recognizer = writeTinyRecognizer(join(makeFolder(), 'tiny'));
  writeFileSync(join(recognizer, 'extra.txt'), '');
  await expect(open(recognizer)).rejects.toThrow('has a model for the step "recognize"');
});

test('a model one folder deeper is mentioned', async () => {
  const folder = join(makeFolder(), 'models');
  mkdirSync(join(folder, 'notes'), { recursive: true });
  writeTinyVoice(join(folder, 'piper'));
  await expect(open(folder)).rejects.toThrow(
    'sherpa models: the folder has no model, but the folder "piper" in it has; name that one in engines.json',
  );
});
