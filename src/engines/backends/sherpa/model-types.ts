/** The types of models that sherpa runs: one row for each, with its files, its languages and its configuration. */
import { baseLanguage, canonicalLanguage, languageName } from '../../../protocol/language-tag.ts';
import { languageTag, WHISPER_LANGUAGES } from '../transcript.ts';
import type { ModelFolder } from './model.ts';
import type { ModelFiles, SpeechSettings } from './requests.ts';

/** A file that a type needs, and its name in messages. */
interface NeededFile {
  readonly pattern: RegExp;
  readonly shown: string;
}

export interface ModelType {
  /** Shown to users. */
  readonly title: string;
  /** Name of its configuration in sherpa. */
  readonly key: string;
  /** The files by the names that its configuration gives them. */
  readonly files: Readonly<Record<string, NeededFile>>;
  /**
   * Distinguishes types with the same files: the type that a model names in its metadata, else the name of the folder or
   * file. Without it, the files are enough.
   */
  readonly signs?: { readonly metadata: RegExp; readonly name: RegExp };
  /** Languages of each model of this type, or a function that reads them from a model; empty if unknown. */
  readonly languages:
    | readonly string[]
    | ((model: FoundModel) => readonly string[] | Promise<readonly string[]>);
}

/** Full paths of the files of a model, by the names that the configuration gives them. */
type Paths = Readonly<Record<string, string>>;

export interface RecognizerType extends ModelType {
  /**
   * Returns the part of sherpa's configuration that is the type's own; default: its files without `tokens`, under its key.
   * @param code whisper's code of the language; empty if the model must detect it
   */
  readonly configure?: (files: Paths, code: string, model: FoundModel) => ModelFiles;
  /** Whether it cannot detect the language, and recognizes nothing without one. */
  readonly needsLanguage?: true;
  /** Options of each range, for types that take the language there. */
  readonly options?: (language: string) => Readonly<Record<string, string>>;
}

export interface SpeakerType extends ModelType {
  /** Returns the part of sherpa's configuration that is the type's own; default: its files under its key. */
  readonly configure?: (files: Paths, language: string, folder: ModelFolder) => ModelFiles;
  /** Settings of each spoken text, for types that take the language with the text. */
  readonly settings?: (language: string) => SpeechSettings;
  /** For types without voices of their own, which speak like a recording: whether its words must be known. */
  readonly recording?: { readonly needsWords: boolean };
  /** The fastest speed; default: that of all voices. */
  readonly mostSpeed?: number;
}

const needed = (pattern: RegExp, shown: string): NeededFile => ({ pattern, shown });

const part = (name: string): NeededFile =>
  needed(new RegExp(String.raw`(^|[-_.])${name}([-_.].*)?\.(onnx|ort)$`, 'i'), `${name}.onnx`);
const tokens = needed(/(^|-)tokens\.txt$/, 'tokens.txt');
/** The only model of a folder, under any name. */
const model = needed(
  /^(?!.*(encode|decode|joiner|preprocess|vocos|vocoder|hifigan|embedding)).*\.onnx$/i,
  'model.onnx',
);

const coders = { encoder: part('encoder'), decoder: part('decoder') };
const pair = { ...coders, tokens };
const single = { model, tokens };

/** The 14 languages of Cohere Transcribe, as sherpa-onnx lists them. */
const COHERE = 'en ar de el es fr it ja ko nl pl pt vi zh'.split(' ');
/** The 30 languages of Qwen3-ASR. Source: its README. */
const QWEN3_ASR =
  'en zh yue ar de fr es pt id it ko ru th vi ja tr hi ms nl sv da fi pl cs fil fa el hu mk ro'.split(' ');
/** Tokens of a range with its text: 30 s of sound take 390. The defaults of sherpa-onnx, 512 and 128, would cut the text. */
const QWEN3_CONTEXT = 1_024;
const QWEN3_TEXT = 512;

/** Types of recognizers. Of types with the same files, the first whose `signs` match is used. */
export const RECOGNIZERS: readonly RecognizerType[] = [
  {
    title: 'Moonshine',
    key: 'moonshine',
    files: {
      preprocessor: part('preprocess'),
      encoder: part('encode'),
      uncachedDecoder: part('uncached_decode'),
      cachedDecoder: needed(/^cached_decode.*\.(onnx|ort)$/i, 'cached_decode.onnx'),
      tokens,
    },
    languages: namedLanguages,
  },
  {
    title: 'Moonshine, second version',
    key: 'moonshine',
    files: { encoder: part('encoder_model'), mergedDecoder: part('decoder_model_merged'), tokens },
    languages: namedLanguages,
  },
  {
    title: 'transducer',
    key: 'transducer',
    files: { ...pair, joiner: part('joiner') },
    languages: languagesOfParakeet,
    configure: (files, _, { metadataType }) => ({
      transducer: files,
      modelType:
        /^EncDec/.test(metadataType) || /nemo|parakeet/i.test(files.encoder ?? '') ? 'nemo_transducer' : '',
    }),
  },
  {
    title: 'Canary',
    key: 'canary',
    files: pair,
    signs: { metadata: /^EncDecMultiTaskModel$/, name: /canary/ },
    languages: ['en', 'de', 'es', 'fr'],
    needsLanguage: true,
    // It needs both languages; the same one means transcription without translation.
    configure: (files, code) => ({ canary: { ...files, usePnc: 1, srcLang: code, tgtLang: code } }),
  },
  {
    title: 'FireRedASR',
    key: 'fireRedAsr',
    files: pair,
    signs: { metadata: /^fire-?red/, name: /fire-?red/ },
    languages: ['zh', 'en'],
  },
  {
    title: 'Cohere Transcribe',
    key: 'cohereTranscribe',
    files: pair,
    signs: { metadata: /cohere/, name: /cohere/ },
    languages: COHERE,
    needsLanguage: true,
    configure: (files, code) => ({ cohereTranscribe: { ...files, usePunct: 1, useItn: 1, language: code } }),
  },
  {
    title: 'Qwen3-ASR',
    key: 'qwen3Asr',
    files: {
      convFrontend: part('conv_frontend'),
      ...coders,
      tokenizer: needed(/^tokenizer$/, 'tokenizer'),
    },
    languages: QWEN3_ASR,
    configure: (files) => ({
      qwen3Asr: { ...files, maxTotalLen: QWEN3_CONTEXT, maxNewTokens: QWEN3_TEXT },
    }),
    options: (language) => ({ language: languageName(baseLanguage(language)) }),
  },
  {
    title: 'whisper',
    key: 'whisper',
    files: pair,
    // Its files begin with the name of the model: `tiny.en-encoder.onnx`.
    signs: { metadata: /^whisper/, name: /whisper|(tiny|base|small|medium|large|turbo)[\w.-]*-encoder/ },
    languages: languagesOfWhisper,
    configure: (files, code) => ({
      whisper: { ...files, task: 'transcribe', language: code, enableSegmentTimestamps: 1 },
    }),
  },
  {
    title: 'SenseVoice',
    key: 'senseVoice',
    files: single,
    signs: { metadata: /^sense_voice/, name: /sense-?voice/ },
    languages: ['zh', 'en', 'ja', 'ko', 'yue'],
    configure: (files, code) => ({
      senseVoice: { ...files, useInverseTextNormalization: 1, language: code },
    }),
  },
  {
    title: 'Paraformer',
    key: 'paraformer',
    files: single,
    signs: { metadata: /^paraformer/, name: /paraformer/ },
    languages: namedLanguages,
  },
  {
    title: 'Dolphin',
    key: 'dolphin',
    files: single,
    signs: { metadata: /dolphin/, name: /dolphin/ },
    languages: namedLanguages,
  },
  {
    title: 'Omnilingual ASR',
    key: 'omnilingual',
    files: single,
    signs: { metadata: /^omnilingual/, name: /omnilingual/ },
    languages: namedLanguages,
  },
  {
    title: 'MedASR',
    key: 'medasr',
    files: single,
    signs: { metadata: /^medasr/, name: /medasr/ },
    languages: ['en'],
  },
  {
    title: 'FireRedASR with CTC',
    key: 'fireRedAsrCtc',
    files: single,
    signs: { metadata: /^fire-?red/, name: /fire-?red/ },
    languages: ['zh', 'en'],
  },
  {
    title: 'Zipformer with CTC',
    key: 'zipformerCtc',
    files: single,
    signs: { metadata: /^zipformer2?_ctc/, name: /zipformer.*ctc/ },
    languages: namedLanguages,
  },
  {
    title: 'WeNet with CTC',
    key: 'wenetCtc',
    files: single,
    signs: { metadata: /^wenet/, name: /wenet/ },
    languages: namedLanguages,
  },
  {
    title: 'TeleSpeech with CTC',
    key: 'teleSpeechCtc',
    files: single,
    signs: { metadata: /^telespeech/, name: /tele-?speech/ },
    languages: ['zh'],
    configure: ({ model: file = '' }) => ({ teleSpeechCtc: file }),
  },
  {
    title: 'NeMo with CTC',
    key: 'nemoCtc',
    files: single,
    signs: { metadata: /^EncDec(CTC|HybridRNNTCTC)/, name: /nemo|parakeet|citrinet|quartznet|giga-?am/ },
    languages: languagesOfParakeet,
  },
];

const voices = needed(/^voices.*\.bin$/, 'voices.bin');
const dataDir = needed(/^espeak-ng-data$/, 'espeak-ng-data');

const vocoder = needed(/(vocos|vocoder|hifigan).*\.onnx$/i, 'a vocoder such as vocos-22khz-univ.onnx');

/** Types of voices. */
export const SPEAKERS: readonly SpeakerType[] = [
  {
    title: 'Kitten',
    key: 'kitten',
    files: { model, voices, tokens, dataDir },
    signs: { metadata: /^kitten/, name: /kitten/ },
    languages: ['en'],
  },
  {
    title: 'Kokoro',
    key: 'kokoro',
    files: { model, voices, tokens, dataDir },
    signs: { metadata: /^kokoro|^$/, name: /kokoro/ },
    languages: languagesOfKokoro,
    configure: configureKokoro,
  },
  {
    title: 'Matcha',
    key: 'matcha',
    files: { acousticModel: model, vocoder, tokens },
    signs: { metadata: /^matcha|^$/, name: /matcha|model-steps/ },
    languages: languagesOfVoice,
    configure: (files, _, folder) => ({ matcha: { ...files, ...findPronunciation(folder) } }),
  },
  {
    title: 'Supertonic',
    key: 'supertonic',
    files: {
      durationPredictor: part('duration_predictor'),
      textEncoder: part('text_encoder'),
      vectorEstimator: part('vector_estimator'),
      vocoder: part('vocoder'),
      ttsJson: needed(/^tts\.json$/, 'tts.json'),
      unicodeIndexer: needed(/^unicode_indexer\.bin$/, 'unicode_indexer.bin'),
      voiceStyle: needed(/^voice\.bin$/, 'voice.bin'),
    },
    languages: ({ folder }) => (/supertonic-(tts|2)/.test(folder.name) ? SUPERTONIC_2 : SUPERTONIC_3),
    settings: (language) => ({ numSteps: SUPERTONIC_STEPS, extra: { lang: baseLanguage(language) } }),
  },
  {
    title: 'Pocket',
    key: 'pocket',
    files: {
      lmFlow: part('lm_flow'),
      lmMain: part('lm_main'),
      ...coders,
      textConditioner: part('text_conditioner'),
      vocabJson: needed(/^vocab\.json$/, 'vocab.json'),
      tokenScoresJson: needed(/^token_scores\.json$/, 'token_scores.json'),
    },
    languages: (found) => namedLanguages(found, ['en']),
    settings: () => ({ numSteps: POCKET_STEPS, extra: { seed: '1' } }),
    recording: { needsWords: false },
    mostSpeed: 1,
  },
  {
    title: 'ZipVoice',
    key: 'zipvoice',
    files: { ...coders, vocoder, tokens, lexicon: needed(/^lexicon\.txt$/, 'lexicon.txt'), dataDir },
    languages: (found) => namedLanguages(found, ['zh', 'en']),
    settings: () => ({ numSteps: ZIPVOICE_STEPS, extra: {} }),
    recording: { needsWords: true },
  },
  {
    title: 'VITS',
    key: 'vits',
    files: single,
    signs: { metadata: /vits|^$/, name: /vits|piper|mms|coqui/ },
    languages: languagesOfVoice,
    configure: (files, _, folder) => ({ vits: { ...files, ...findPronunciation(folder) } }),
  },
];

/** The two models that tell speakers apart: who speaks within some seconds, and how each voice sounds. */
export const DIARIZERS: readonly ModelType[] = [
  {
    title: 'pyannote',
    key: 'pyannote',
    files: {
      segmentation: needed(/segmentation.*\.onnx$/i, 'segmentation.onnx'),
      embedding: needed(/embedding.*\.onnx$/i, 'embedding.onnx'),
    },
    languages: [],
  },
];

/** Returns the languages that a model is known to have; empty if unknown. */
export async function readLanguages(found: FoundModel): Promise<readonly string[]> {
  const { languages } = found.type;
  return typeof languages === 'function' ? await languages(found) : languages;
}

/** Languages by which sherpa's downloads are named: `sherpa-onnx-zipformer-en-2023-04-01`. */
const IN_NAMES = new Set(
  'ar be bg bn ca cs cy da de el en es et eu fa fi fr ga gl hi hr hu id it ja ka kk ko lt lv ml mt ne nl pl pt ro ru sk sl sr sv sw te th tr uk ur vi yue zh'.split(
    ' ',
  ),
);

/** @param others those of the type, for a folder that names none */
function namedLanguages({ folder }: FoundModel, others: string[] = []): string[] {
  const named = [...new Set(folder.name.split(/[-_.]/).filter((word) => IN_NAMES.has(word)))];
  return named.length > 0 ? named : others;
}

function fileNames({ folder, files }: FoundModel): string {
  return [folder.name, ...Object.values(files)].join(' ').toLowerCase();
}

/** Cantonese is new in the third version. sherpa ends the process for a language that its model does not know. */
function languagesOfWhisper(found: FoundModel): readonly string[] {
  const names = fileNames(found);
  if (/\.en\b/.test(names)) return ['en'];
  if (/v3|turbo/.test(`${names} ${found.metadataType}`)) return WHISPER_LANGUAGES;
  return WHISPER_LANGUAGES.filter((tag) => tag !== 'yue');
}

/** The 25 languages of Parakeet's third version. Source: its model card. */
const PARAKEET_V3 = 'en bg hr cs da nl et fi fr de el hu it lv lt mt pl pt ro sk sl es sv ru uk'.split(' ');
/** Its vocabulary. The earlier versions have 1,024 tokens and only English. */
const PARAKEET_V3_TOKENS = 8_192;

/** Languages of NeMo's models: those in the name, or those of Parakeet. */
async function languagesOfParakeet(found: FoundModel): Promise<readonly string[]> {
  const named = namedLanguages(found);
  if (named.length > 0 || !/parakeet/.test(fileNames(found))) return named;
  const lines = (await found.folder.text(found.files.tokens ?? '')).trim().split('\n').length;
  return lines >= PARAKEET_V3_TOKENS ? PARAKEET_V3 : ['en'];
}

/** The 31 languages of Supertonic's third version. Source: the README of supertone-inc/supertonic. */
const SUPERTONIC_3 =
  'en ko ja ar bg cs da de el es et fi fr hi hr hu id it lt lv nl pl pt ro ru sk sl sv tr uk vi'.split(' ');
/** Languages of its second version, whose download is named `sherpa-onnx-supertonic-tts-int8-2026-03-06`. */
const SUPERTONIC_2 = ['en', 'ko', 'es', 'pt', 'fr'];
/** Steps of the vector estimator for each text: the usual number of Supertonic's own package, which takes 5 to 12. */
const SUPERTONIC_STEPS = 8;

/** Steps for each frame or text, as in the examples of sherpa-onnx. The seed of Pocket makes its speech the same each time. */
const POCKET_STEPS = 5;
const ZIPVOICE_STEPS = 4;

/** Languages that Kokoro speaks by a lexicon; all others by the rules of espeak-ng. */
const KOKORO_LEXICON = ['en', 'zh'];

function languagesOfKokoro(found: FoundModel): string[] {
  return namedLanguages(found, found.folder.find(/^lexicon.*zh.*\.txt$/) === null ? ['en'] : ['en', 'zh']);
}

function configureKokoro(files: Paths, language: string, folder: ModelFolder): ModelFiles {
  // American English and Chinese; the British one would replace the American one.
  const lexicons = folder.names.filter((file) => /^lexicon-(us-en|zh)\.txt$/.test(file));
  if (lexicons.length === 0) return { kokoro: files };
  const base = baseLanguage(language);
  const lang = KOKORO_LEXICON.includes(base) ? '' : base === 'pt' ? 'pt-br' : base;
  return { kokoro: { ...files, lexicon: lexicons.map(folder.at).join(','), lang } };
}

/** Finds the rules of espeak-ng or the lexicon, by which a voice pronounces words. */
function findPronunciation(folder: ModelFolder): Record<string, string> {
  return {
    ...(folder.names.includes('espeak-ng-data') ? { dataDir: folder.at('espeak-ng-data') } : {}),
    ...(folder.names.includes('lexicon.txt') ? { lexicon: folder.at('lexicon.txt') } : {}),
  };
}

/** Reads the language of a voice from Piper's file beside it, from its name, or from its metadata. */
async function languagesOfVoice(found: FoundModel): Promise<string[]> {
  const { folder, files } = found;
  const file = files.model ?? files.acousticModel ?? '';
  const piper = languageOfPiper(await folder.text(`${file}.json`));
  if (piper !== null) return [piper];
  // Such as `es_ES` in `vits-piper-es_ES-sharvard-medium`.
  const names = `${file}.${folder.path.split('/').at(-1)}`;
  const locale = /(?:^|[-.])([a-z]{2,3}_[A-Z]{2})(?=[-.]|$)/.exec(names)?.[1];
  const exact = locale === undefined ? null : canonicalLanguage(locale.replace('_', '-'));
  if (exact !== null) return [exact];
  const named = namedLanguages(found);
  if (named.length > 0) return named;
  const stated = languageTag(await folder.metadata(file, 'language'));
  return stated === null ? [] : [stated];
}

function languageOfPiper(json: string): string | null {
  try {
    const code = (JSON.parse(json) as { language?: { code?: unknown } } | null)?.language?.code; // checked below
    return typeof code === 'string' ? canonicalLanguage(code.replace('_', '-')) : null;
  } catch {
    return null;
  }
}

/** A model that was found in a folder. */
export interface FoundModel<T extends ModelType = ModelType> {
  readonly type: T;
  readonly folder: ModelFolder;
  /** Names of its files, by the names that the configuration gives them. */
  readonly files: Readonly<Record<string, string>>;
  /** Type that the model names in its metadata; empty if none. */
  readonly metadataType: string;
}

/**
 * Finds the model of a folder.
 * @throws Error that says what is missing, and completes a sentence that begins with the folder
 */
export async function findModel<T extends ModelType>(
  folder: ModelFolder,
  types: readonly T[],
): Promise<FoundModel<T>> {
  const candidates = types.map((type) => {
    const entries = Object.entries(type.files).map(([key, file]) => ({
      key,
      file,
      name: folder.find(file.pattern),
    }));
    return {
      type,
      entries,
      missing: entries.filter(({ name }) => name === null).map(({ file }) => file.shown),
    };
  });
  const complete = candidates
    .filter(({ missing }) => missing.length === 0)
    .map(({ type, entries }) => ({
      type,
      folder,
      files: Object.fromEntries(entries.map(({ key, name }) => [key, name ?? ''])),
    }));
  const described = await Promise.all(
    complete.map(async (found) => ({ ...found, metadataType: await typeInMetadata(folder, found.files) })),
  );
  // The metadata of a model count more than its name.
  const sure = described.find(({ type, metadataType }) => {
    return type.signs === undefined || (metadataType !== '' && type.signs.metadata.test(metadataType));
  });
  const likely = described.find(({ type, files }) => {
    return [folder.name, ...Object.values(files)].some((name) => type.signs?.name.test(name) === true);
  });
  const usual = described.find(({ type, metadataType }) => {
    return metadataType === '' && type.signs?.metadata.test('') === true;
  });
  const found = sure ?? likely ?? usual;
  if (found !== undefined) return found;
  throw new Error(describeMissing(folder, candidates, complete.length > 0));
}

async function typeInMetadata(folder: ModelFolder, files: Readonly<Record<string, string>>): Promise<string> {
  const main = files.model ?? files.acousticModel ?? files.encoder;
  return main === undefined ? '' : folder.metadata(main, 'model_type');
}

/** The fewest files that a type must have in common with a folder to be named. */
const LIKELY = 1;
/** The most types to name. */
const MOST_NAMED = 3;

function describeMissing(
  folder: ModelFolder,
  candidates: readonly {
    type: ModelType;
    entries: readonly { name: string | null }[];
    missing: readonly string[];
  }[],
  isComplete: boolean,
): string {
  const titles = candidates.map(({ type }) => type.title).join(', ');
  if (isComplete) {
    return `has a model of unknown type; name the folder as its download was named. Known types: ${titles}`;
  }
  const present = (entries: readonly { name: string | null }[]) =>
    entries.filter(({ name }) => name !== null).length;
  const nearest = candidates
    .filter(({ entries }) => present(entries) >= LIKELY)
    .toSorted((a, b) => a.missing.length - b.missing.length || present(b.entries) - present(a.entries));
  if (nearest.length === 0) {
    const files = folder.names.length === 0 ? 'is empty' : 'has no model';
    return `${files}; expected files such as model.onnx and tokens.txt`;
  }
  const seen = new Set<string>();
  const parts = nearest
    .map(({ type, missing }) => ({ title: type.title, files: missing.join(', ') }))
    .filter(({ files }) => !seen.has(files) && seen.add(files))
    .slice(0, MOST_NAMED)
    .map(({ title, files }) => `for ${title}: ${files}`);
  return `has an incomplete model; missing: ${parts.join('; ')}`;
}
