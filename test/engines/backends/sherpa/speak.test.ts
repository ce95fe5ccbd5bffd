import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { VoiceMode } from '../../../../src/engines/backend.ts';
import { createSherpaSpeaker } from '../../../../src/engines/backends/sherpa/speak.ts';
import { createWav } from '../../../../src/media/audio/wav.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { programs } from '../../workspace.ts';
import { createParts } from '../user-program.ts';
import { writeEmptyModel, writeTinyVoice, writeTinyZipvoice } from './tiny-models.ts';

/** The files of the types that speak like a recording. */
const FILES: Readonly<Record<string, string>> = {
  pocket:
    'lm_flow.onnx lm_main.onnx encoder.onnx decoder.onnx text_conditioner.onnx vocab.json token_scores.json',
  zipvoice: 'encoder.onnx decoder.onnx vocos_24khz.onnx tokens.txt lexicon.txt espeak-ng-data/',
};

const signal = new AbortController().signal;
const request = { text: 'hola mundo', language: 'es-MX', voiceMode: 'auto', speed: 1 } as const;

async function create(more: object = {}) {
  const folder = writeTinyVoice(join(makeFolder(), 'tiny'));
  const speaker = await createSherpaSpeaker({ type: 'sherpa', folder, ...more }, createParts());
  onTestFinished(() => speaker.close());
  return speaker;
}

describe('a voice', () => {
  test('speaks with its own rate, and leaves no file', async () => {
    const folder = makeFolder();
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
    const spoken = speaker.speak({ ...request, voiceMode: 'male' }, { signal, folder: makeFolder() });
    await expect(spoken).rejects.toThrow('sherpa tiny failed: it has 1 voices, from 0 to 0, and no voice 2');
  });

  test('must be named by a number', async () => {
    await expect(create({ voices: { es: 'ana' } })).rejects.toThrow(
      'sherpa tiny: the voice "ana" must be the number of a speaker of the model, such as "0"',
    );
  });

  test('that has no words for a text is silent, which is a failure', async () => {
    const spoken = (await create()).speak({ ...request, text: '漢字' }, { signal, folder: makeFolder() });
    await expect(spoken).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      message: expect.stringContaining('sherpa tiny'),
    });
  });
});

test('a voice of unknown language needs one in the entry', async () => {
  const folder = writeTinyVoice(join(makeFolder(), 'mine'), { language: 'Klingon' });
  const create = (languages?: string[]) =>
    createSherpaSpeaker({ type: 'sherpa', folder, languages }, createParts());
  await expect(create()).rejects.toThrow('sherpa mine: its files do not name its language');
  expect(await (await create(['tlh'])).supports('tlh', { signal, folder: '/' })).toBe(true);
});

describe('a voice that speaks like a recording', () => {
  /** Writes a recording of half a second with a loudness from 0 to 1. */
  async function record(folder: string, name: string, loudness: number): Promise<void> {
    const file = await createWav(join(folder, `${name}.wav`), { sampleRate: 16_000, channels: 1 });
    await file.write(Int16Array.from({ length: 8_000 }, (_, at) => Math.sin(at / 5) * 32_767 * loudness));
    await file.close();
  }

  async function createIn(folder: string, more: object = {}) {
    const speaker = await createSherpaSpeaker({ type: 'sherpa', folder, ...more }, createParts());
    onTestFinished(() => speaker.close());
    const say = async (text: string, voiceMode: VoiceMode, speed = 1) => {
      const run = { signal, folder: makeFolder() };
      const { samples, sampleRate } = await speaker.speak({ text, language: 'en', voiceMode, speed }, run);
      expect(readdirSync(run.folder)).toEqual([]);
      const loudness = samples.reduce((most, value) => Math.max(most, value), 0) / 32_767;
      return { seconds: samples.length / sampleRate, loudness };
    };
    return { speaker, say };
  }

  test('of Pocket TTS has the voices of the entry, and only its natural speed', async () => {
    const folder = writeEmptyModel(join(makeFolder(), 'pocket'), `${FILES.pocket} george.wav mary.wav`);
    const { speaker } = await createIn(folder, { voices: { en: { female: 'mary', male: 'george' } } });
    expect(speaker.mostSpeed).toBe(1);
    expect(await speaker.voices({ signal, folder: '/' })).toEqual([
      { language: 'en', voices: ['mary', 'george'] },
    ]);
  });

  test('of ZipVoice is told the words of the recording, which may be of any format', async () => {
    const folder = writeTinyZipvoice(join(makeFolder(), 'tiny-zipvoice'), espeakData());
    await record(folder, 'ana', 0.8);
    await record(folder, 'eva', 0.8);
    const [from, to] = [join(folder, 'eva.wav'), join(folder, 'two.wav')];
    await programs.run('ffmpeg', ['-i', from, '-ac', '2', '-c:a', 'pcm_f32le', to], { signal, folder });
    renameSync(to, from);
    writeFileSync(join(folder, 'ana.txt'), 'hola\n');
    writeFileSync(join(folder, 'eva.txt'), 'hola mundo\n');
    const { say } = await createIn(folder, { voices: { en: { female: 'eva', male: 'ana' } } });
    const [eva, ana] = [await say('hola mundo', 'female'), await say('hola mundo', 'male')];
    // The tone of this model is as loud as the recording has letters and spaces.
    expect(eva.loudness / ana.loudness).toBeCloseTo(10 / 4, 1);
    // Nine letters and the space between them.
    expect(ana.seconds).toBeCloseTo(1.06, 2);
    expect((await say('hola mundo', 'male', 1.5)).seconds).toBeCloseTo(1.06 / 1.5, 1);
  });

  test.each([
    ['pocket', 'mary.wav', { voices: { en: 'eva' } }, 'a recording of some seconds; put eva.wav into'],
    ['zipvoice', '', {}, 'a recording of some seconds and its words; put ana.wav and ana.txt into'],
    ['zipvoice', 'eva.wav', {}, 'a recording of some seconds and its words; put eva.txt into'],
  ])('of type %s with the recordings "%s" and %j is refused: %s', async (type, recordings, more, message) => {
    const folder = writeEmptyModel(join(makeFolder(), type), `${FILES[type]} ${recordings}`.trim());
    const end = 'the folder of the model, or name a recording that is there as the voice';
    await expect(createIn(folder, more)).rejects.toMatchObject({
      permanent: true,
      message: expect.stringMatching(new RegExp(`^sherpa ${type}: .*${message} ${end}$`)),
    });
  });

  test('names a recording that is not a sound', async () => {
    const folder = writeEmptyModel(join(makeFolder(), 'pocket'), FILES.pocket ?? '');
    writeFileSync(join(folder, 'ana.wav'), '<html>');
    const { say } = await createIn(folder);
    await expect(say('hola', 'auto')).rejects.toMatchObject({
      permanent: true,
      message: `sherpa pocket: the recording ${join(folder, 'ana.wav')} contains what is not a sound that can be read`,
    });
  });
});

/** Folder of the data of espeak-ng, which ZipVoice needs beside its lexicon. */
function espeakData(): string {
  const version = execFileSync('espeak-ng', ['--version'], { encoding: 'utf8' });
  return /Data at: (.*)/.exec(version)?.[1]?.trim() ?? '';
}

// Its weights are not here, but sherpa gets far enough to open the model.
test('passes the files of a model to sherpa', async () => {
  const files = 'model.onnx voices.bin tokens.txt espeak-ng-data/ lexicon-us-en.txt lexicon-zh.txt';
  const folder = writeEmptyModel(join(makeFolder(), 'kokoro-es'), files);
  const speaker = await createSherpaSpeaker({ type: 'sherpa', folder }, createParts());
  onTestFinished(() => speaker.close());
  await expect(speaker.speak(request, { signal, folder: makeFolder() })).rejects.toMatchObject({
    permanent: true,
    message: expect.stringMatching(
      /^sherpa kokoro-es ended with .*Load model from model\.onnx failed: [A-Z]/,
    ),
  });
});
