/** Models of a few kilobytes that sherpa really loads and runs. What they recognize and say means nothing. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';

// The fields of an ONNX model, in the encoding of protocol buffers.

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 128 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
}

const int = (field: number, value: number) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field: number, value: Buffer | string) => {
  const content = Buffer.from(value);
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
};
const message = (field: number, ...parts: Buffer[]) => bytes(field, Buffer.concat(parts));

const FLOAT = 1;
const INT64 = 7;
const BOOL = 9;

const floats = (values: Float32Array) => Buffer.from(values.buffer);
const integers = (...values: number[]) => Buffer.from(new BigInt64Array(values.map(BigInt)).buffer);
const dimension = (size: number | string) =>
  message(1, typeof size === 'number' ? int(1, size) : bytes(2, size));
const shaped = (field: number, name: string, type: number, shape: readonly (number | string)[]) =>
  message(field, bytes(1, name), message(2, message(1, int(1, type), message(2, ...shape.map(dimension)))));
const input = (name: string, type: number, shape: readonly (number | string)[]) =>
  shaped(11, name, type, shape);
const output = (name: string, type: number, shape: readonly (number | string)[]) =>
  shaped(12, name, type, shape);
const tensor = (name: string, type: number, shape: readonly number[], raw: Buffer) =>
  message(5, ...shape.map((size) => int(1, size)), int(2, type), bytes(8, name), bytes(9, raw));
const numbers = (name: string, shape: readonly number[], values: readonly number[]) =>
  tensor(name, FLOAT, shape, floats(Float32Array.from(values)));
const constant = (name: string, ...values: number[]) =>
  tensor(name, INT64, [values.length], integers(...values));
const node = (operation: string, inputs: string[], outputs: string[], ...attributes: Buffer[]) =>
  message(
    1,
    ...inputs.map((name) => bytes(1, name)),
    ...outputs.map((name) => bytes(2, name)),
    bytes(4, operation),
    ...attributes,
  );
const numberAttribute = (name: string, value: number) =>
  message(5, bytes(1, name), int(3, value), int(20, 2));
const listAttribute = (name: string, values: readonly number[]) =>
  message(5, bytes(1, name), ...values.map((value) => int(8, value)), int(20, 7));
const metadata = (key: string, value: string | number) => message(14, bytes(1, key), bytes(2, String(value)));

/** A model with operations of version 13. */
function onnx(graph: readonly Buffer[], properties: Readonly<Record<string, string | number>>): Buffer {
  return Buffer.concat([
    int(1, 8),
    bytes(2, 'test'),
    message(7, ...graph, bytes(2, 'tiny')),
    message(8, bytes(1, ''), int(2, 13)),
    ...Object.entries(properties).map(([key, value]) => metadata(key, value)),
  ]);
}

const CHANNELS = 80;
const TOKENS = 3;

/** Writes a NeMo CTC recognizer. Frames louder than a threshold score for one token: each burst of sound is the word "ba". */
export function writeTinyRecognizer(folder: string): string {
  const weights = new Float32Array(CHANNELS * TOKENS);
  for (let channel = 0; channel < CHANNELS; channel += 1) weights[channel * TOKENS] = 1 / CHANNELS;
  const graph = [
    node('Transpose', ['audio_signal'], ['frames'], listAttribute('perm', [0, 2, 1])),
    node('MatMul', ['frames', 'w'], ['scores']),
    node('Add', ['scores', 'b'], ['biased']),
    node('LogSoftmax', ['biased'], ['logprobs'], numberAttribute('axis', 2)),
    tensor('w', FLOAT, [CHANNELS, TOKENS], floats(weights)),
    tensor('b', FLOAT, [TOKENS], floats(new Float32Array([8, -99, 0]))),
    input('audio_signal', FLOAT, ['N', CHANNELS, 'T']),
    input('length', INT64, ['N']),
    output('logprobs', FLOAT, ['N', 'T', TOKENS]),
  ];
  const properties = {
    vocab_size: TOKENS - 1,
    subsampling_factor: 1,
    normalize_type: '',
    model_type: 'EncDecCTCModel',
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'model.onnx'), onnx(graph, properties));
  writeFileSync(join(folder, 'tokens.txt'), '▁ba 0\n▁ 1\n<blk> 2\n');
  return folder;
}

/** Tokens of a transducer; `ba` is a bit more likely than `bo`. */
const PIECES = ['<blk>', '▁ba', '▁bo', '▁b', '▁', 'b', 'a', 'o'];

/** Writes a transducer, for which a burst of sound is the word "ba", or "bo" where this is expected. */
export function writeTinyTransducer(folder: string): string {
  const count = PIECES.length;
  const table = (value: (row: number, column: number) => number, rows = count) =>
    Array.from({ length: rows * count }, (_, at) => value(Math.floor(at / count), at % count));
  mkdirSync(folder, { recursive: true });
  const write = (
    name: string,
    graph: readonly Buffer[],
    properties: Readonly<Record<string, string | number>>,
  ) => writeFileSync(join(folder, name), onnx(graph, properties));
  const encoder = [
    node('MatMul', ['x', 'w'], ['scores']),
    node('Add', ['scores', 'bias'], ['encoded']),
    node('Identity', ['x_lens'], ['encoded_lens']),
    numbers(
      'w',
      [CHANNELS, count],
      table((_, column) => (column === 1 || column === 2 ? 1 / CHANNELS : 0), CHANNELS),
    ),
    numbers('bias', [count], [0, 8, 7.5, ...PIECES.slice(3).map(() => -99)]),
    input('x', FLOAT, ['N', 'T', CHANNELS]),
    input('x_lens', INT64, ['N']),
    output('encoded', FLOAT, ['N', 'T', count]),
    output('encoded_lens', INT64, ['N']),
  ];
  const decoder = [
    node('Gather', ['y', 'last'], ['token'], numberAttribute('axis', 1)),
    node('Gather', ['after', 'token'], ['decoded']),
    tensor('last', INT64, [], integers(1)),
    // Nothing follows a word.
    numbers(
      'after',
      [count, count],
      table((row, column) => (row > 0 && column === 0 ? 99 : 0)),
    ),
    input('y', INT64, ['N', 2]),
    output('decoded', FLOAT, ['N', count]),
  ];
  const joiner = [
    node('Add', ['encoded', 'decoded'], ['logit']),
    input('encoded', FLOAT, ['N', count]),
    input('decoded', FLOAT, ['N', count]),
    output('logit', FLOAT, ['N', count]),
  ];
  write('encoder.onnx', encoder, { model_type: 'zipformer2' });
  write('decoder.onnx', decoder, { vocab_size: count, context_size: 2 });
  write('joiner.onnx', joiner, { joiner_dim: count });
  writeFileSync(join(folder, 'tokens.txt'), PIECES.map((piece, id) => `${piece} ${id}\n`).join(''));
  const ranked = ['▁b', '▁ba', '▁bo', '▁', 'b', 'a', 'o'].map((piece, rank) => `${piece}\t${-rank}\n`);
  writeFileSync(join(folder, 'bpe.vocab'), `<blk>\t0\n${ranked.join('')}`);
  return folder;
}

const RATE = 22_050;

/** Writes a VITS voice. Each letter of its two words, `hola` and `mundo`, is 0.1 s of a tone. */
export function writeTinyVoice(
  folder: string,
  properties: Readonly<Record<string, string | number>> = {},
): string {
  const samples = RATE / 10;
  const wave = new Float32Array(samples).map((_, at) => 0.3 * Math.sin((2 * Math.PI * 440 * at) / RATE));
  const graph = [
    node('Shape', ['x'], ['shape']),
    node('Concat', ['shape', 'samples'], ['full'], numberAttribute('axis', 0)),
    node('Expand', ['wave', 'full'], ['tiled']),
    node('Reshape', ['tiled', 'flat'], ['y']),
    tensor('samples', INT64, [1], integers(samples)),
    tensor('flat', INT64, [3], integers(1, 1, -1)),
    tensor('wave', FLOAT, [1, 1, samples], floats(wave)),
    input('x', INT64, ['N', 'T']),
    input('x_length', INT64, ['N']),
    input('noise_scale', FLOAT, [1]),
    input('length_scale', FLOAT, [1]),
    input('noise_scale_w', FLOAT, [1]),
    output('y', FLOAT, ['N', 1, 'L']),
  ];
  const usual = { sample_rate: RATE, n_speakers: 1, add_blank: 0, language: 'Spanish', comment: 'tiny' };
  const letters = ['_', ...'abcdefghijklmnopqrstuvwxyz'].map((letter, id) => `${letter} ${id}`).join('\n');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'model.onnx'), onnx(graph, { ...usual, punctuation: ', .', ...properties }));
  // Without a token for the space, sherpa ends the process.
  writeFileSync(join(folder, 'tokens.txt'), `${letters}\n  27\n, 28\n. 29\n`);
  writeFileSync(join(folder, 'lexicon.txt'), 'hola h o l a\nmundo m u n d o\n');
  return folder;
}

/** Contents that sherpa reads before it opens a model: a token, and the sizes in Supertonic's `tts.json`. */
const SMALLEST: Readonly<Record<string, string>> = {
  '.txt': 'a 0\n',
  '.json': JSON.stringify({
    ae: { sample_rate: 44_100, base_chunk_size: 512 },
    ttl: { chunk_compress_factor: 6, latent_dim: 24 },
  }),
};

/** Writes empty files with the given names, separated by spaces; those that end with a slash are folders of espeak-ng. */
export function writeEmptyModel(folder: string, names: string): string {
  mkdirSync(folder, { recursive: true });
  for (const name of names.split(' ')) {
    if (name.endsWith('/')) writeEmptyModel(join(folder, name), 'phontab phonindex phondata intonations');
    else writeFileSync(join(folder, name), SMALLEST[extname(name)] ?? '');
  }
  return folder;
}

/** Samples of a window, and of the sound that one frame sees and by which frames are apart: those of pyannote 3.0. */
const [WINDOW, FIELD, SHIFT] = [160_000, 991, 270];
const NEVER = -9;

/**
 * Writes two models that tell a low tone from a high one: the segmentation scores silence, three speakers and their pairs
 * by loudness and pitch, and the embedding is the shape of the mean spectrum.
 */
export function writeTinyDiarization(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const frames = () => [listAttribute('kernel_shape', [FIELD]), listAttribute('strides', [SHIFT])];
  const segmentation = onnx(
    [
      node('Abs', ['x'], ['size']),
      node('AveragePool', ['size'], ['loud'], ...frames()),
      // Differences between samples are larger for high tones.
      node('Conv', ['x', 'difference'], ['dx'], listAttribute('kernel_shape', [2])),
      node('Abs', ['dx'], ['dsize']),
      node('AveragePool', ['dsize'], ['high'], ...frames()),
      node('Concat', ['loud', 'high'], ['features'], numberAttribute('axis', 1)),
      node('Conv', ['features', 'weights', 'bias'], ['scores'], listAttribute('kernel_shape', [1])),
      node('Transpose', ['scores'], ['y'], listAttribute('perm', [0, 2, 1])),
      numbers('difference', [1, 1, 2], [-1, 1]),
      numbers('weights', [7, 2, 1], [0, 0, 1, -2, -0.5, 2, 0, 0, 0, 0, 0, 0, 0, 0]),
      numbers('bias', [7], [0.02, 0, 0, NEVER, NEVER, NEVER, NEVER]),
      input('x', FLOAT, [1, 1, 'T']),
      output('y', FLOAT, [1, 'F', 7]),
    ],
    {
      ...{
        sample_rate: 16_000,
        window_size: WINDOW,
        receptive_field_size: FIELD,
        receptive_field_shift: SHIFT,
      },
      ...{ num_speakers: 3, powerset_max_classes: 2, num_classes: 7 },
    },
  );
  const embedding = onnx(
    [
      node('ReduceMean', ['x'], ['mean'], listAttribute('axes', [1]), numberAttribute('keepdims', 0)),
      node('Softmax', ['mean'], ['embedding'], numberAttribute('axis', 1)),
      input('x', FLOAT, ['N', 'T', 80]),
      output('embedding', FLOAT, ['N', 80]),
    ],
    {
      framework: 'wespeaker',
      sample_rate: 16_000,
      output_dim: 80,
      normalize_samples: 1,
      language: 'English',
    },
  );
  writeFileSync(join(folder, 'segmentation.onnx'), segmentation);
  writeFileSync(join(folder, 'embedding.onnx'), embedding);
  return folder;
}

const MELS = 100;
const BINS = 513;
/** Frames of a letter at the natural speed, 256 samples each. */
const ZIP_FRAMES = 10;

/**
 * Writes a ZipVoice voice. Each letter of its two words, `hola` and `mundo`, is 0.106 s of a tone, louder the more letters
 * the words of the recording have.
 * @param data folder of espeak-ng, which sherpa opens
 */
export function writeTinyZipvoice(folder: string, data: string): string {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, properties: Readonly<Record<string, string>>, ...graph: readonly Buffer[]) =>
    writeFileSync(join(folder, name), onnx(graph, properties));
  const length = (name: string, of: string) => [
    node('Shape', [of], [`${of} shape`]),
    node('Cast', [`${of} shape`], [`${of} sizes`], numberAttribute('to', FLOAT)),
    node('Gather', [`${of} sizes`, 'second'], [name]),
  ];
  write(
    'encoder.onnx',
    {},
    ...length('letters', 'tokens'),
    ...length('known', 'prompt'),
    node('Mul', ['letters', 'frames'], ['natural']),
    node('Div', ['natural', 'speed'], ['spoken']),
    node('Cast', ['spoken'], ['rounded'], numberAttribute('to', INT64)),
    node('Add', ['rounded', 'heard'], ['all']),
    node('Concat', ['single', 'all', 'mels'], ['shape'], numberAttribute('axis', 0)),
    node('Expand', ['known', 'shape'], ['text']),
    constant('second', 1),
    constant('single', 1),
    constant('mels', MELS),
    numbers('frames', [1], [ZIP_FRAMES]),
    input('tokens', INT64, [1, 'N']),
    input('prompt', INT64, [1, 'M']),
    input('heard', INT64, [1]),
    input('speed', FLOAT, [1]),
    output('text', FLOAT, [1, 'F', MELS]),
  );
  write(
    'decoder.onnx',
    {},
    node('Sub', ['text', 'x'], ['way']),
    node('Sub', ['end', 't'], ['rest']),
    node('Div', ['way', 'rest'], ['y']),
    numbers('end', [1], [1]),
    input('t', FLOAT, [1]),
    ...['x', 'text', 'speech'].map((name) => input(name, FLOAT, [1, 'F', MELS])),
    input('guidance', FLOAT, [1]),
    output('y', FLOAT, [1, 'F', MELS]),
  );
  write(
    'vocos_24khz.onnx',
    { model_type: 'vocos' },
    node('ReduceMean', ['mels'], ['mean'], listAttribute('axes', [1]), numberAttribute('keepdims', 1)),
    node('Mul', ['mean', 'tone'], ['size']),
    node('Mul', ['size', 'zero'], ['imaginary']),
    node('Add', ['imaginary', 'unit'], ['real']),
    numbers(
      'tone',
      [1, BINS, 1],
      Array.from({ length: BINS }, (_, bin) => (bin === 20 ? 0.1 : 0)),
    ),
    numbers('zero', [1], [0]),
    numbers('unit', [1], [1]),
    input('mels', FLOAT, [1, MELS, 'T']),
    ...['size', 'real', 'imaginary'].map((name) => output(name, FLOAT, [1, BINS, 'T'])),
  );
  const letters = [...'abcdefghijklmnopqrstuvwxyz'].map((letter, id) => `${letter} ${id}`).join('\n');
  writeFileSync(join(folder, 'tokens.txt'), `${letters}\n  26\n. 27\n`);
  writeFileSync(join(folder, 'lexicon.txt'), 'hola h o l a\nmundo m u n d o\n');
  symlinkSync(data, join(folder, 'espeak-ng-data'));
  return folder;
}

const QWEN_WIDTH = 128;
/** What Qwen3-ASR finds in its prompt; the last one stands before the text. */
const QWEN_TOKENS = ['im_start', 'im_end', 'audio_start', 'audio_end', 'audio_pad'].map(
  (name) => `<|${name}|>`,
);
const QWEN_TEXT = '<asr_text>';

/** The character that stands for a byte in the vocabulary: itself if it is visible, else one above 255. */
function visible(byte: number): string {
  const isVisible = (value: number) =>
    (value >= 33 && value <= 126) || (value >= 161 && value <= 172) || value >= 174;
  if (isVisible(byte)) return String.fromCharCode(byte);
  const before = Array.from({ length: byte }, (_, value) => value).filter((value) => !isVisible(value));
  return String.fromCharCode(256 + before.length);
}

/** Writes a Qwen3-ASR recognizer: all it hears is the word "ba", or "hola" where it is told the language. */
export function writeTinyQwen(folder: string): string {
  mkdirSync(join(folder, 'tokenizer'), { recursive: true });
  const bytes = Array.from({ length: 256 }, (_, byte) => visible(byte));
  const tokens = [...bytes, ...QWEN_TOKENS, QWEN_TEXT];
  const id = (token: string) => tokens.indexOf(token);
  // Each token leads to the next; a prompt without a language ends with a line break.
  const end = QWEN_TOKENS[1] ?? '';
  const chains = [
    [visible(10), 'b', 'a', end],
    [QWEN_TEXT, 'h', 'o', 'l', 'a', end],
  ];
  const scores = new Float32Array(tokens.length ** 2);
  for (const chain of chains) {
    for (const [at, token] of chain.slice(1).entries()) {
      scores[id(chain[at] ?? '') * tokens.length + id(token)] = 1;
    }
  }
  const write = (name: string, ...graph: readonly Buffer[]) =>
    writeFileSync(join(folder, name), onnx(graph, {}));
  write(
    'conv_frontend.onnx',
    node('Identity', ['features'], ['frames']),
    input('features', FLOAT, [1, 'T', QWEN_WIDTH]),
    output('frames', FLOAT, [1, 'T', QWEN_WIDTH]),
  );
  write(
    'encoder.onnx',
    node('Identity', ['frames'], ['audio']),
    input('frames', FLOAT, [1, 'T', QWEN_WIDTH]),
    input('mask', BOOL, [1, 'T']),
    output('audio', FLOAT, [1, 'T', QWEN_WIDTH]),
  );
  write(
    'decoder.onnx',
    node('Gather', ['scores', 'ids'], ['logits']),
    node('Cast', ['ids'], ['plain'], numberAttribute('to', FLOAT)),
    node('Reshape', ['plain', 'cell'], ['key']),
    node('Identity', ['key'], ['value']),
    tensor('scores', FLOAT, [tokens.length, tokens.length], floats(scores)),
    constant('cell', 1, -1, 1, 1),
    input('ids', INT64, [1, 'S']),
    input('audio', FLOAT, [1, 'A', QWEN_WIDTH]),
    input('attention', INT64, [1, 'S']),
    input('position', INT64, ['S']),
    input('past key', FLOAT, [1, 'L', 1, 1]),
    input('past value', FLOAT, [1, 'L', 1, 1]),
    output('logits', FLOAT, [1, 'S', tokens.length]),
    output('key', FLOAT, [1, 'S', 1, 1]),
    output('value', FLOAT, [1, 'S', 1, 1]),
  );
  const vocabulary = Object.fromEntries(bytes.map((token) => [token, id(token)]));
  const added = [...QWEN_TOKENS, QWEN_TEXT].map((content) => [id(content), { content }]);
  const config = { added_tokens_decoder: Object.fromEntries(added) };
  writeFileSync(join(folder, 'tokenizer', 'vocab.json'), JSON.stringify(vocabulary));
  writeFileSync(join(folder, 'tokenizer', 'merges.txt'), '#version: 0.2\n');
  writeFileSync(join(folder, 'tokenizer', 'tokenizer_config.json'), JSON.stringify(config));
  return folder;
}
