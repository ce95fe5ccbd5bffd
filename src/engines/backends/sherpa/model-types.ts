/** The types of models that sherpa runs, by their files. */
import { WHISPER_LANGUAGES } from '../transcript.ts';
import type { ModelFolder } from './model.ts';

/** A file that a type needs, and what it is called in messages. */
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
  /** Settings besides the files. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Languages that each model of this type has. */
  readonly languages?: readonly string[];
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

const pair = { encoder: part('encoder'), decoder: part('decoder'), tokens };
const single = { model, tokens };

/** Types of recognizers. Of types with the same files, the first whose `signs` match is used. */
export const RECOGNIZERS: readonly ModelType[] = [
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
  },
  {
    title: 'Moonshine, second version',
    key: 'moonshine',
    files: { encoder: part('encoder_model'), mergedDecoder: part('decoder_model_merged'), tokens },
  },
  {
    title: 'transducer',
    key: 'transducer',
    files: { ...pair, joiner: part('joiner') },
  },
  {
    title: 'Canary',
    key: 'canary',
    files: pair,
    signs: { metadata: /^EncDecMultiTaskModel$/, name: /canary/ },
    settings: { usePnc: 1 },
    languages: ['en', 'de', 'es', 'fr'],
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
    settings: { usePunct: 1, useItn: 1 },
  },
  {
    title: 'whisper',
    key: 'whisper',
    files: pair,
    // Its files begin with the name of the model: `tiny.en-encoder.onnx`.
    signs: { metadata: /^whisper/, name: /whisper|(tiny|base|small|medium|large|turbo)[\w.-]*-encoder/ },
    settings: { task: 'transcribe' },
    languages: WHISPER_LANGUAGES,
  },
  {
    title: 'SenseVoice',
    key: 'senseVoice',
    files: single,
    signs: { metadata: /^sense_voice/, name: /sense-?voice/ },
    settings: { useInverseTextNormalization: 1 },
    languages: ['zh', 'en', 'ja', 'ko', 'yue'],
  },
  {
    title: 'Paraformer',
    key: 'paraformer',
    files: single,
    signs: { metadata: /^paraformer/, name: /paraformer/ },
  },
  { title: 'Dolphin', key: 'dolphin', files: single, signs: { metadata: /dolphin/, name: /dolphin/ } },
  {
    title: 'Omnilingual ASR',
    key: 'omnilingual',
    files: single,
    signs: { metadata: /^omnilingual/, name: /omnilingual/ },
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
  },
  { title: 'WeNet with CTC', key: 'wenetCtc', files: single, signs: { metadata: /^wenet/, name: /wenet/ } },
  {
    title: 'TeleSpeech with CTC',
    key: 'teleSpeechCtc',
    files: single,
    signs: { metadata: /^telespeech/, name: /tele-?speech/ },
    languages: ['zh'],
  },
  {
    title: 'NeMo with CTC',
    key: 'nemoCtc',
    files: single,
    signs: { metadata: /^EncDec(CTC|HybridRNNTCTC)/, name: /nemo|parakeet|citrinet|quartznet|giga-?am/ },
  },
];

const voices = needed(/^voices.*\.bin$/, 'voices.bin');
const dataDir = needed(/^espeak-ng-data$/, 'espeak-ng-data');

/** Types of voices. */
export const SPEAKERS: readonly ModelType[] = [
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
  },
  {
    title: 'Matcha',
    key: 'matcha',
    files: {
      acousticModel: model,
      vocoder: needed(/(vocos|vocoder|hifigan).*\.onnx$/i, 'a vocoder such as vocos-22khz-univ.onnx'),
      tokens,
    },
    signs: { metadata: /^matcha|^$/, name: /matcha|model-steps/ },
  },
  {
    title: 'VITS',
    key: 'vits',
    files: single,
    signs: { metadata: /vits|^$/, name: /vits|piper|mms|coqui/ },
  },
];

/** A model that was found in a folder. */
export interface FoundModel {
  readonly type: ModelType;
  /** Names of its files, by the names that the configuration gives them. */
  readonly files: Readonly<Record<string, string>>;
  /** Type that the model names in its metadata; empty if none. */
  readonly metadataType: string;
}

/**
 * Finds the model of a folder.
 * @throws Error that says what is missing, and completes a sentence that begins with the folder
 */
export async function findModel(folder: ModelFolder, types: readonly ModelType[]): Promise<FoundModel> {
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
