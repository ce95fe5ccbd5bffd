import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findMetadata, openModelFolder } from '../../../../src/engines/backends/sherpa/model.ts';
import {
  findModel,
  type ModelType,
  RECOGNIZERS,
  readLanguages,
  SPEAKERS,
} from '../../../../src/engines/backends/sherpa/model-types.ts';
import { makeFolder } from '../../../support/make-folder.ts';

/** The end of an ONNX model that names its type. */
const typed = (type: string) =>
  Buffer.concat([
    Buffer.alloc(1_000, 7),
    Buffer.from([0x72, 14 + type.length, 0x0a, 10]),
    Buffer.from('model_type'),
    Buffer.from([0x12, type.length]),
    Buffer.from(type),
  ]);

/** A folder with empty files; those with a colon have a model of that type, those with a slash are folders. */
function folderOf(name: string, files: string): string {
  const folder = join(makeFolder(), name);
  mkdirSync(folder);
  for (const file of files.split(' ').filter((word) => word !== '')) {
    const [path = '', type] = file.split(':');
    if (path.endsWith('/')) mkdirSync(join(folder, path));
    else writeFileSync(join(folder, path), type === undefined ? '' : typed(type));
  }
  return folder;
}

/** The files of sherpa's downloads of Supertonic. */
const SUPERTONIC =
  'duration_predictor.int8.onnx text_encoder.int8.onnx vector_estimator.int8.onnx vocoder.int8.onnx tts.json ' +
  'unicode_indexer.bin voice.bin';

/** Those of Qwen3-ASR, of Pocket TTS and of ZipVoice. */
const QWEN3_ASR = 'conv_frontend.onnx encoder.int8.onnx decoder.int8.onnx tokenizer/';
const POCKET =
  'lm_flow.int8.onnx lm_main.int8.onnx encoder.onnx decoder.int8.onnx text_conditioner.onnx vocab.json ' +
  'token_scores.json test_wavs/';
const ZIPVOICE =
  'encoder.int8.onnx decoder.int8.onnx vocos_24khz.onnx tokens.txt lexicon.txt espeak-ng-data/ test_wavs/';

const find = async (name: string, files: string, types: readonly ModelType[] = RECOGNIZERS) => {
  const folder = await openModelFolder(folderOf(name, files));
  return { folder, found: await findModel(folder, types) };
};

describe('a recognizer', () => {
  // The files of sherpa's downloads.
  test.each([
    [
      'sherpa-onnx-whisper-tiny.en',
      'tiny.en-encoder.onnx tiny.en-decoder.onnx tiny.en-tokens.txt',
      'whisper',
      'en',
    ],
    [
      'my-model',
      'large-v3-encoder.int8.onnx large-v3-decoder.int8.onnx large-v3-tokens.txt',
      'whisper',
      'en,zh',
    ],
    ['a', 'encoder.onnx:whisper-base decoder.onnx tokens.txt', 'whisper', 'en,zh'],
    [
      'sherpa-onnx-moonshine-tiny-en-int8',
      'preprocess.onnx encode.int8.onnx uncached_decode.int8.onnx cached_decode.int8.onnx tokens.txt',
      'moonshine',
      'en',
    ],
    ['moonshine-base-ja', 'encoder_model.ort decoder_model_merged.ort tokens.txt', 'moonshine', 'ja'],
    [
      'sherpa-onnx-zipformer-en-2023-04-01',
      'encoder-epoch-99-avg-1.int8.onnx decoder-epoch-99-avg-1.onnx joiner-epoch-99-avg-1.int8.onnx tokens.txt bpe.model',
      'transducer',
      'en',
    ],
    ['parakeet', 'encoder.int8.onnx decoder.int8.onnx joiner.int8.onnx tokens.txt', 'transducer', 'en'],
    [
      'sherpa-onnx-nemo-canary-180m-flash-en-es-de-fr-int8',
      'encoder.int8.onnx decoder.int8.onnx tokens.txt',
      'canary',
      'en,de',
    ],
    ['mine', 'encoder.onnx:EncDecMultiTaskModel decoder.onnx tokens.txt', 'canary', 'en,de'],
    [
      'sherpa-onnx-fire-red-asr-large-zh_en-2025-02-16',
      'encoder.int8.onnx decoder.int8.onnx tokens.txt',
      'fireRedAsr',
      'zh,en',
    ],
    [
      'sherpa-onnx-sense-voice-zh-en-ja-ko-yue-2024-07-17',
      'model.onnx model.int8.onnx tokens.txt',
      'senseVoice',
      'zh,en',
    ],
    ['mine', 'model.onnx:sense_voice_ctc tokens.txt', 'senseVoice', 'zh,en'],
    ['sherpa-onnx-paraformer-zh-2023-09-14', 'model.int8.onnx tokens.txt am.mvn', 'paraformer', 'zh'],
    ['sherpa-onnx-dolphin-base-ctc-multi-lang-int8', 'model.int8.onnx tokens.txt', 'dolphin', ''],
    ['sherpa-onnx-zipformer-ctc-zh-int8-2025-07-03', 'model.int8.onnx tokens.txt', 'zipformerCtc', 'zh'],
    ['mine-fr', 'ctc.onnx:EncDecCTCModelBPE tokens.txt', 'nemoCtc', 'fr'],
    ['wrongly-named-paraformer-de', 'model.onnx:EncDecHybridRNNTCTCBPEModel tokens.txt', 'nemoCtc', 'de'],
    ['sherpa-onnx-telespeech-ctc-int8-zh-2024-06-04', 'model.int8.onnx tokens.txt', 'teleSpeechCtc', 'zh'],
    ['sherpa-onnx-omnilingual-asr-1600-languages-300M-ctc', 'model.int8.onnx tokens.txt', 'omnilingual', ''],
    [
      'sherpa-onnx-cohere-transcribe-14-lang-int8-2026-04-01',
      'encoder.int8.onnx encoder.int8.onnx.data decoder.int8.onnx tokens.txt',
      'cohereTranscribe',
      'en,ar,de,el,es,fr,it,ja,ko,nl,pl,pt,vi,zh',
    ],
    ['sherpa-onnx-qwen3-asr-0.6B-int8-2026-03-25', QWEN3_ASR, 'qwen3Asr', 'en,zh,yue'],
    ['mine', QWEN3_ASR, 'qwen3Asr', 'en,zh,yue'],
  ])('in %s with %s is found', async (name, files, key, languages) => {
    const { found } = await find(name, files);
    expect(found.type.key).toBe(key);
    expect((await readLanguages(found)).join(',').slice(0, languages.length || 99)).toBe(languages);
  });

  test('of whisper has Cantonese from its third version on', async () => {
    const files = (size: string) =>
      ['encoder.onnx', 'decoder.onnx', 'tokens.txt'].map((file) => `${size}-${file}`);
    const languages = async (size: string) => {
      const { found } = await find('whisper', files(size).join(' '));
      return readLanguages(found);
    };
    expect(await languages('large-v3')).toContain('yue');
    expect(await languages('medium')).not.toContain('yue');
  });

  test('of Parakeet has 25 languages if its vocabulary is that of the third version', async () => {
    const { folder, found } = await find('parakeet', 'encoder.onnx decoder.onnx joiner.onnx tokens.txt');
    writeFileSync(folder.at('tokens.txt'), 'a 0\n'.repeat(8_193));
    expect(await readLanguages(found)).toHaveLength(25);
  });

  test('uses the quantized files if there are others', async () => {
    const { found } = await find('whisper', 'a-encoder.onnx a-encoder.int8.onnx a-decoder.onnx a-tokens.txt');
    expect(found.files).toEqual({
      encoder: 'a-encoder.int8.onnx',
      decoder: 'a-decoder.onnx',
      tokens: 'a-tokens.txt',
    });
  });

  test.each([
    ['a', '', 'is empty; expected files such as model.onnx and tokens.txt'],
    ['a', 'notes.md', 'has no model; expected files'],
    [
      'a',
      'encoder.onnx decoder.onnx joiner.onnx',
      'has an incomplete model; missing: for transducer: tokens.txt',
    ],
    ['a', 'encoder.onnx joiner.onnx tokens.txt', 'missing: for transducer: decoder.onnx; '],
    [
      'a',
      'preprocess.onnx encode.onnx uncached_decode.onnx tokens.txt',
      'missing: for Moonshine: cached_decode.onnx',
    ],
    ['a', 'model.onnx', 'missing: for SenseVoice: tokens.txt'],
    ['a', 'conv_frontend.onnx encoder.onnx decoder.onnx', 'missing: for Qwen3-ASR: tokenizer'],
    ['a', 'model.onnx tokens.txt', 'has a model of unknown type; name the folder as its download was named'],
    ['a', 'encoder.onnx decoder.onnx tokens.txt', 'has a model of unknown type'],
  ])('in %s with "%s" is reported as missing', async (name, files, message) => {
    await expect(find(name, files)).rejects.toThrow(message);
  });
});

describe('a voice', () => {
  test.each([
    [
      'vits-piper-es_ES-sharvard-medium',
      'es_ES-sharvard-medium.onnx tokens.txt espeak-ng-data/',
      'vits',
      'es-ES',
    ],
    ['piper', 'en_GB-cori-medium.onnx tokens.txt espeak-ng-data/ MODEL_CARD', 'vits', 'en-GB'],
    ['vits-coqui-de-css10', 'model.onnx tokens.txt', 'vits', 'de'],
    ['x', 'model.onnx:vits tokens.txt', 'vits', ''],
    [
      'matcha-icefall-en_US-ljspeech',
      'model-steps-3.onnx vocos-22khz-univ.onnx tokens.txt',
      'matcha',
      'en-US',
    ],
    ['y', 'model.onnx hifigan_v2.onnx tokens.txt', 'matcha', ''],
    ['kokoro-en-v0_19', 'model.onnx voices.bin tokens.txt espeak-ng-data/', 'kokoro', 'en'],
    ['z', 'model.onnx voices.bin tokens.txt espeak-ng-data/ lexicon-zh.txt', 'kokoro', 'en,zh'],
    ['kitten-nano-en-v0_1-fp16', 'model.fp16.onnx voices.bin tokens.txt espeak-ng-data/', 'kitten', 'en'],
    ['q', 'model.onnx:kitten-tts voices.bin tokens.txt espeak-ng-data/', 'kitten', 'en'],
    ['sherpa-onnx-supertonic-tts-int8-2026-03-06', SUPERTONIC, 'supertonic', 'en,ko,es,pt,fr'],
    ['sherpa-onnx-pocket-tts-int8-2026-01-26', POCKET, 'pocket', 'en'],
    ['mine-fr', POCKET, 'pocket', 'fr'],
    ['sherpa-onnx-zipvoice-distill-int8-zh-en-emilia', ZIPVOICE, 'zipvoice', 'zh,en'],
    ['mine', ZIPVOICE, 'zipvoice', 'zh,en'],
  ])('in %s with %s is found', async (name, files, key, languages) => {
    const { found } = await find(name, files, SPEAKERS);
    expect(found.type.key).toBe(key);
    expect((await readLanguages(found)).join(',')).toBe(languages);
  });

  test.each(['sherpa-onnx-supertonic-3-tts-int8-2026-05-11', 'mine'])(
    'of Supertonic in %s has 31 languages, which it receives with each text',
    async (name) => {
      const { found } = await find(name, SUPERTONIC, SPEAKERS);
      expect(found.type.key).toBe('supertonic');
      const languages = await readLanguages(found);
      expect(languages).toHaveLength(31);
      expect(languages).toEqual(expect.arrayContaining(['en', 'es', 'ja', 'uk', 'vi']));
      const type = SPEAKERS.find(({ key }) => key === 'supertonic');
      expect(type?.settings?.('pt-BR')).toEqual({ numSteps: 8, extra: { lang: 'pt' } });
    },
  );

  test('of Piper states its language in a file beside the model', async () => {
    const { folder, found } = await find('voice', 'voice.onnx tokens.txt', SPEAKERS);
    writeFileSync(folder.at('voice.onnx.json'), '{"language": {"code": "pt_BR"}}');
    expect(await readLanguages(found)).toEqual(['pt-BR']);
    writeFileSync(folder.at('voice.onnx.json'), '{"language": null}');
    expect(await readLanguages(found)).toEqual([]);
  });

  test.each([
    ['matcha', 'model-steps-3.onnx', 'for Matcha: a vocoder such as vocos-22khz-univ.onnx, tokens.txt'],
    ['kokoro', 'model.onnx voices.bin', 'for Kitten: tokens.txt, espeak-ng-data'],
    [
      'supertonic',
      'text_encoder.onnx vocoder.onnx tts.json voice.bin unicode_indexer.bin',
      'for Supertonic: duration_predictor.onnx, vector_estimator.onnx',
    ],
    [
      'pocket',
      'lm_flow.onnx lm_main.onnx encoder.onnx decoder.onnx vocab.json',
      'for Pocket: text_conditioner.onnx',
    ],
    [
      'zipvoice',
      'encoder.onnx decoder.onnx tokens.txt',
      'for ZipVoice: a vocoder such as vocos-22khz-univ.onnx, lexicon.txt, espeak-ng-data',
    ],
  ])('in %s with %s is reported as missing', async (name, files, message) => {
    await expect(find(name, files, SPEAKERS)).rejects.toThrow(message);
  });
});

test('sherpa knows the name of each type, and those of its files', () => {
  const { resolve } = createRequire(import.meta.url);
  const addon = readFileSync(resolve(`sherpa-onnx-${process.platform}-${process.arch}/sherpa-onnx.node`));
  const names = [...RECOGNIZERS, ...SPEAKERS].flatMap(({ key, files }) => [key, ...Object.keys(files)]);
  expect(names.filter((name) => !addon.includes(`${name}\0`))).toEqual([]);
});

test('metadata may be long, and is empty if it is missing or cut', () => {
  const long = 'x'.repeat(300);
  const field = Buffer.concat([
    Buffer.from([0x0a, 3]),
    Buffer.from('abc'),
    Buffer.from([0x12, 0xac, 0x02]),
    Buffer.from(long),
  ]);
  expect(findMetadata(field, 'abc')).toBe(long);
  expect(findMetadata(field, 'other')).toBe('');
  expect(findMetadata(field.subarray(0, 6), 'abc')).toBe('');
});
