import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSherpaSpeaker } from '../../../../src/engines/backends/sherpa/speak.ts';
import { temporaryFolder } from '../../workspace.ts';
import { createParts } from '../user-program.ts';
import { writeEmptyModel, writeTinyVoice } from './tiny-models.ts';

const signal = new AbortController().signal;
const request = { text: 'hola mundo', language: 'es-MX', voiceMode: 'auto', speed: 1 } as const;

async function create(more: object = {}) {
  const folder = writeTinyVoice(join(temporaryFolder(), 'tiny'));
  const speaker = await createSherpaSpeaker({ type: 'sherpa', folder, ...more }, createParts());
  onTestFinished(() => speaker.close());
  return speaker;
}

describe('a voice', () => {
  test('speaks with its own rate, and leaves no file', async () => {
    const folder = temporaryFolder();
    const clip = await (await create()).speak(request, { signal, folder });
    expect(clip.sampleRate).toBe(22_050);
    // Nine letters and the space, 0.1 s each.
    expect(clip.samples.length / clip.sampleRate).toBeCloseTo(1, 1);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('has the language of its model, and a speed', async () => {
    const speaker = await create();
    expect(speaker.name).toBe('sherpa tiny');
    expect(await speaker.voices({ signal, folder: '/' })).toEqual([{ language: 'es', voices: ['0'] }]);
    expect(await speaker.supports('es-AR', { signal, folder: '/' })).toBe(true);
    expect(await speaker.supports('fr', { signal, folder: '/' })).toBe(false);
    expect(speaker.mostSpeed).toBe(1.6);
  });

  test('has the voices that the entry names', async () => {
    const speaker = await create({ voices: { es: { female: '1', male: '2' } } });
    expect(await speaker.voices({ signal, folder: '/' })).toEqual([{ language: 'es', voices: ['1', '2'] }]);
    const spoken = speaker.speak({ ...request, voiceMode: 'male' }, { signal, folder: temporaryFolder() });
    await expect(spoken).rejects.toThrow('sherpa tiny failed: it has 1 voices, from 0 to 0, and no voice 2');
  });

  test('must be named by a number', async () => {
    await expect(create({ voices: { es: 'ana' } })).rejects.toThrow(
      'sherpa tiny: the voice "ana" must be the number of a speaker of the model, such as "0"',
    );
  });

  test('that has no words for a text is silent, which is a failure', async () => {
    const spoken = (await create()).speak(
      { ...request, text: '漢字' },
      { signal, folder: temporaryFolder() },
    );
    await expect(spoken).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      message: expect.stringContaining('sherpa tiny'),
    });
  });
});

test('a voice of unknown language needs one in the entry', async () => {
  const folder = writeTinyVoice(join(temporaryFolder(), 'mine'), { language: 'Klingon' });
  const create = (languages?: string[]) =>
    createSherpaSpeaker({ type: 'sherpa', folder, languages }, createParts());
  await expect(create()).rejects.toThrow('sherpa mine: its files do not name its language');
  expect(await (await create(['tlh'])).supports('tlh', { signal, folder: '/' })).toBe(true);
});

// Weights of these types are not here, but sherpa gets far enough to open the model.
test.each([
  ['kitten', 'model.onnx voices.bin tokens.txt espeak-ng-data/', 'model.onnx'],
  ['kokoro-en', 'model.onnx voices.bin tokens.txt espeak-ng-data/', 'model.onnx'],
  [
    'kokoro-es',
    'model.onnx voices.bin tokens.txt espeak-ng-data/ lexicon-us-en.txt lexicon-zh.txt',
    'model.onnx',
  ],
  ['matcha-en', 'model-steps-3.onnx vocos-22khz-univ.onnx tokens.txt espeak-ng-data/', 'model-steps-3.onnx'],
  ['matcha-zh', 'model-steps-3.onnx vocos-22khz-univ.onnx tokens.txt lexicon.txt', 'model-steps-3.onnx'],
  ['piper-en', 'en_US-amy-low.onnx tokens.txt espeak-ng-data/', 'en_US-amy-low.onnx'],
  ['coqui-de', 'model.onnx tokens.txt', 'model.onnx'],
  [
    'supertonic',
    'duration_predictor.onnx text_encoder.onnx vector_estimator.onnx vocoder.onnx tts.json unicode_indexer.bin voice.bin',
    'duration_predictor.onnx',
  ],
])('passes the files of %s to sherpa', async (name, files, opened) => {
  const folder = writeEmptyModel(join(temporaryFolder(), name), files);
  const speaker = await createSherpaSpeaker({ type: 'sherpa', folder }, createParts());
  onTestFinished(() => speaker.close());
  await expect(speaker.speak(request, { signal, folder: temporaryFolder() })).rejects.toMatchObject({
    permanent: true,
    message: expect.stringMatching(`^sherpa ${name} ended with .*Load model from ${opened} failed: [A-Z]`),
  });
});
