/**
 * A GGUF model of about 330 kB: architecture llama, one layer, random weights, and a tokenizer of single bytes. llama.cpp
 * really loads it and generates from it; its answers are noise, or always the same word.
 */
import { writeFileSync } from 'node:fs';

// Types of values in the header, as the GGUF specification numbers them.
const U32 = 4;
const I32 = 5;
const F32 = 6;
const STRING = 8;
const ARRAY = 9;
/** The type of a token that no text has. */
const UNUSED = 5;
/** Tensors begin at multiples of this. */
const ALIGNMENT = 32;

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const i32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};
const f32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
};
const u64 = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
const list = (type: number, items: readonly Buffer[]) =>
  Buffer.concat([u32(ARRAY), u32(type), u64(items.length), ...items]);
const padding = (length: number) => Buffer.alloc((ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT);

/** Random numbers from 0 to 1 that are the same in each run (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Three special tokens, the 256 bytes, and the printable ASCII characters, which stand for themselves. */
function vocabulary(): { readonly token: string; readonly type: number }[] {
  const [normal, unknown, control, byte] = [1, 2, 3, 6];
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(2, '0');
  const special = [
    { token: '<unk>', type: unknown },
    { token: '<s>', type: control },
    { token: '</s>', type: control },
  ];
  const bytes = Array.from({ length: 256 }, (_, value) => ({ token: `<0x${hex(value)}>`, type: byte }));
  // The tokenizer writes a space as U+2581.
  const letters = Array.from({ length: 95 }, (_, at) => {
    return { token: at === 0 ? '\u2581' : String.fromCharCode(0x20 + at), type: normal };
  });
  return [...special, ...bytes, ...letters];
}

const TEMPLATE =
  "{% for message in messages %}{{ '[' + message['role'] + ']' + message['content'] + '\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '[assistant]' }}{% endif %}";

/** Sizes of a model. */
export interface ModelSizes {
  readonly layers: number;
  readonly width: number;
  readonly hidden: number;
  readonly heads: number;
  /** Heads of keys and values, as wide as the others. */
  readonly keyHeads: number;
  /** Tokens. None uses those beyond the first 354. */
  readonly words: number;
}

const WIDTH = 64;
const TINY: ModelSizes = { layers: 1, width: WIDTH, hidden: 128, heads: 4, keyHeads: 4, words: 354 };

/** Larger than all that the random weights add. */
const STRONG = 10;

/**
 * Makes the model say a word and stop: each of its letters leads to the next one, the last to the end, and every other
 * token to the first letter.
 */
function teach(word: string, name: string, weights: Float32Array): void {
  const tokens = vocabulary().map(({ token }) => token);
  const states = [...word].map((letter) => tokens.indexOf(letter));
  const set = (token: number, at: number) => {
    weights[token * WIDTH + at] = STRONG;
  };
  if (name === 'token_embd.weight') for (const token of tokens.keys()) set(token, 1 + states.indexOf(token));
  if (name === 'output.weight')
    for (const [at, next] of [...states, tokens.indexOf('</s>')].entries()) set(next, at);
}

/**
 * Writes a model and returns its path.
 * @param word of different letters of ASCII, its only answer; default: noise
 */
export function writeTinyGguf(path: string, word?: string): string {
  const random = randomNumbers(1);
  const blocks = listTensors(TINY).map(({ name, shape }) => {
    const count = shape.reduce((product, size) => product * size, 1);
    // Norms scale by one; all other weights are small random numbers.
    const weights = Float32Array.from({ length: count }, () =>
      shape.length === 1 ? 1 : (random() - 0.5) / 4,
    );
    if (word !== undefined) teach(word, name, weights);
    return Buffer.from(weights.buffer);
  });
  const tensors = listTensors(TINY).map((tensor, at) => ({
    ...tensor,
    type: 0,
    bytes: blocks[at]?.length ?? 0,
  }));
  const padded = blocks.flatMap((block) => [block, padding(block.length)]);
  writeFileSync(path, Buffer.concat([writeHeader(TINY, tensors), ...padded]));
  return path;
}

/** The tensors of a model in the order of its file; dimensions, the fastest one first. */
export function listTensors({ layers, width, hidden, heads, keyHeads, words }: ModelSizes) {
  const keys = (width / heads) * keyHeads;
  const blocks = Array.from({ length: layers }, (_, at) => [
    { name: `blk.${at}.attn_norm.weight`, shape: [width] },
    { name: `blk.${at}.attn_q.weight`, shape: [width, width] },
    { name: `blk.${at}.attn_k.weight`, shape: [width, keys] },
    { name: `blk.${at}.attn_v.weight`, shape: [width, keys] },
    { name: `blk.${at}.attn_output.weight`, shape: [width, width] },
    { name: `blk.${at}.ffn_norm.weight`, shape: [width] },
    { name: `blk.${at}.ffn_gate.weight`, shape: [width, hidden] },
    { name: `blk.${at}.ffn_up.weight`, shape: [width, hidden] },
    { name: `blk.${at}.ffn_down.weight`, shape: [hidden, width] },
  ]);
  return [
    { name: 'token_embd.weight', shape: [width, words] },
    ...blocks.flat(),
    { name: 'output_norm.weight', shape: [width] },
    { name: 'output.weight', shape: [width, words] },
  ];
}

/** A tensor in a file; its type is a number of the GGUF specification. */
interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: number;
  readonly bytes: number;
}

/** All of a file before its tensors. Each of them begins at a multiple of 32 bytes. */
export function writeHeader(sizes: ModelSizes, tensors: readonly Tensor[]): Buffer {
  const known = vocabulary();
  const unused = Array.from({ length: sizes.words - known.length }, (_, at) => {
    return { token: `<unused${at}>`, type: UNUSED };
  });
  const words = [...known, ...unused];
  const integer = (value: number) => [u32(U32), u32(value)];
  const string = (value: string) => [u32(STRING), text(value)];
  const keys: Readonly<Record<string, readonly Buffer[]>> = {
    'general.architecture': string('llama'),
    'general.alignment': integer(ALIGNMENT),
    'general.file_type': integer(0),
    'llama.context_length': integer(4096),
    'llama.embedding_length': integer(sizes.width),
    'llama.block_count': integer(sizes.layers),
    'llama.feed_forward_length': integer(sizes.hidden),
    'llama.attention.head_count': integer(sizes.heads),
    'llama.attention.head_count_kv': integer(sizes.keyHeads),
    'llama.attention.layer_norm_rms_epsilon': [u32(F32), f32(1e-5)],
    'llama.rope.dimension_count': integer(sizes.width / sizes.heads),
    'llama.vocab_size': integer(words.length),
    'tokenizer.ggml.model': string('llama'),
    'tokenizer.ggml.tokens': [
      list(
        STRING,
        words.map(({ token }) => text(token)),
      ),
    ],
    'tokenizer.ggml.scores': [
      list(
        F32,
        words.map((_, at) => f32(-at)),
      ),
    ],
    'tokenizer.ggml.token_type': [
      list(
        I32,
        words.map(({ type }) => i32(type)),
      ),
    ],
    'tokenizer.ggml.unknown_token_id': integer(0),
    'tokenizer.ggml.bos_token_id': integer(1),
    'tokenizer.ggml.eos_token_id': integer(2),
    'tokenizer.chat_template': string(TEMPLATE),
  };
  let offset = 0;
  const infos = tensors.flatMap(({ name, shape, type, bytes }) => {
    const at = offset;
    offset += bytes + padding(bytes).length;
    return [text(name), u32(shape.length), ...shape.map(u64), u32(type), u64(at)];
  });
  const header = Buffer.concat([
    Buffer.from('GGUF'),
    ...[u32(3), u64(tensors.length), u64(Object.keys(keys).length)],
    ...Object.entries(keys).flatMap(([key, value]) => [text(key), ...value]),
    ...infos,
  ]);
  return Buffer.concat([header, padding(header.length)]);
}
