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

const WIDTH = 64;
const HEADS = 4;
const HIDDEN = 128;

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
  const words = vocabulary();
  const integer = (value: number) => [u32(U32), u32(value)];
  const string = (value: string) => [u32(STRING), text(value)];
  const keys: Readonly<Record<string, readonly Buffer[]>> = {
    'general.architecture': string('llama'),
    'general.alignment': integer(ALIGNMENT),
    'general.file_type': integer(0),
    'llama.context_length': integer(4096),
    'llama.embedding_length': integer(WIDTH),
    'llama.block_count': integer(1),
    'llama.feed_forward_length': integer(HIDDEN),
    'llama.attention.head_count': integer(HEADS),
    'llama.attention.head_count_kv': integer(HEADS),
    'llama.attention.layer_norm_rms_epsilon': [u32(F32), f32(1e-5)],
    'llama.rope.dimension_count': integer(WIDTH / HEADS),
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
  // Dimensions, the fastest one first.
  const shapes: Readonly<Record<string, readonly number[]>> = {
    'token_embd.weight': [WIDTH, words.length],
    'blk.0.attn_norm.weight': [WIDTH],
    'blk.0.attn_q.weight': [WIDTH, WIDTH],
    'blk.0.attn_k.weight': [WIDTH, WIDTH],
    'blk.0.attn_v.weight': [WIDTH, WIDTH],
    'blk.0.attn_output.weight': [WIDTH, WIDTH],
    'blk.0.ffn_norm.weight': [WIDTH],
    'blk.0.ffn_gate.weight': [WIDTH, HIDDEN],
    'blk.0.ffn_up.weight': [WIDTH, HIDDEN],
    'blk.0.ffn_down.weight': [HIDDEN, WIDTH],
    'output_norm.weight': [WIDTH],
    'output.weight': [WIDTH, words.length],
  };
  const random = randomNumbers(1);
  const infos: Buffer[] = [];
  const blocks: Buffer[] = [];
  let offset = 0;
  for (const [name, shape] of Object.entries(shapes)) {
    const count = shape.reduce((product, size) => product * size, 1);
    // Norms scale by one; all other weights are small random numbers.
    const weights = Float32Array.from({ length: count }, () =>
      shape.length === 1 ? 1 : (random() - 0.5) / 4,
    );
    if (word !== undefined) teach(word, name, weights);
    infos.push(text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset));
    const bytes = Buffer.from(weights.buffer);
    const block = Buffer.concat([bytes, padding(bytes.length)]);
    blocks.push(block);
    offset += block.length;
  }
  const header = Buffer.concat([
    Buffer.from('GGUF'),
    ...[u32(3), u64(Object.keys(shapes).length), u64(Object.keys(keys).length)],
    ...Object.entries(keys).flatMap(([key, value]) => [text(key), ...value]),
    ...infos,
  ]);
  writeFileSync(path, Buffer.concat([header, padding(header.length), ...blocks]));
  return path;
}
