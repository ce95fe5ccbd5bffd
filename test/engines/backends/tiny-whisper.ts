/**
 * A Whisper model of whisper.cpp with few and random weights. whisper.cpp loads and runs it like any other, so its server speaks its real
 * protocol; the recognized words are nonsense.
 */
import { writeFileSync } from 'node:fs';

/** Sizes in the order of the file. Positions and layers as in the "tiny" model; vectors of 64 numbers instead of 384. */
const STATE = 64;
const HEADS = 1;
const LAYERS = 4;
const AUDIO_POSITIONS = 1500;
const TEXT_POSITIONS = 448;
const BANDS = 80;
/** Bins of a spectrum of 400 samples. */
const BINS = 201;
/** Of a multilingual model. The tokens after the texts, for languages and times, have no text in the file. */
const VOCABULARY = 51_865;
const TEXTS = 50_257;

/** Begins every file: "ggml". */
const MAGIC = 0x67676d6c;
/** Types of the numbers of a tensor; in the header: matrices have 16 bits each. */
const FLOAT_32 = 0;
const FLOAT_16 = 1;

type Fill = 'random' | 'zeros' | 'ones';

/** Writes the model file. It is the same each time, and has 9 MB. */
export function writeTinyWhisper(file: string): void {
  writeFileSync(file, Buffer.concat([...header(), ...tensors()]));
}

function* header(): Generator<Buffer> {
  yield integers(MAGIC, VOCABULARY, AUDIO_POSITIONS, STATE, HEADS, LAYERS);
  yield integers(TEXT_POSITIONS, STATE, HEADS, LAYERS, BANDS, FLOAT_16);
  yield integers(BANDS, BINS);
  yield melFilters();
  yield integers(TEXTS);
  for (let id = 0; id < TEXTS; id += 1) {
    const text = Buffer.from(textOf(id));
    yield Buffer.concat([integers(text.length), text]);
  }
}

/** Bands that overlap; each receives some of the spectrum. */
function melFilters(): Buffer {
  const filters = new Float32Array(BANDS * BINS);
  for (let band = 0; band < BANDS; band += 1) {
    const middle = (band + 1) * (BINS / (BANDS + 4));
    for (let bin = 0; bin < BINS; bin += 1) {
      filters[band * BINS + bin] = Math.max(0, 1 - Math.abs(bin - middle) / 3) * 0.02;
    }
  }
  return Buffer.from(filters.buffer);
}

/** whisper.cpp looks for the texts of the first three to suppress them. The first 256 stand for bytes, all others for words. */
function textOf(id: number): string {
  const special = [' ', ' -', " '"][id];
  if (special !== undefined) return special;
  return id < 256 ? String.fromCharCode(97 + (id % 26)) : ` w${id}`;
}

function* tensors(): Generator<Buffer> {
  const random = randomBits();
  const tensor = (name: string, shape: readonly number[], fill: Fill = 'random') =>
    tensorOf(name, shape, fill, random);
  yield tensor('encoder.positional_embedding', [AUDIO_POSITIONS, STATE]);
  yield tensor('encoder.conv1.weight', [STATE, BANDS, 3]);
  yield tensor('encoder.conv1.bias', [STATE, 1]);
  yield tensor('encoder.conv2.weight', [STATE, STATE, 3]);
  yield tensor('encoder.conv2.bias', [STATE, 1]);
  yield* norm('encoder.ln_post');
  for (let layer = 0; layer < LAYERS; layer += 1) yield* block(`encoder.blocks.${layer}`, ['attn']);
  yield tensor('decoder.positional_embedding', [TEXT_POSITIONS, STATE]);
  yield tensor('decoder.token_embedding.weight', [VOCABULARY, STATE]);
  yield* norm('decoder.ln');
  for (let layer = 0; layer < LAYERS; layer += 1)
    yield* block(`decoder.blocks.${layer}`, ['attn', 'cross_attn']);

  function* norm(name: string): Generator<Buffer> {
    yield tensor(`${name}.weight`, [STATE], 'ones');
    yield tensor(`${name}.bias`, [STATE], 'zeros');
  }

  function* block(name: string, attentions: readonly string[]): Generator<Buffer> {
    for (const attention of attentions) {
      yield* norm(`${name}.${attention}_ln`);
      for (const part of ['query', 'key', 'value', 'out']) {
        yield tensor(`${name}.${attention}.${part}.weight`, [STATE, STATE]);
        if (part !== 'key') yield tensor(`${name}.${attention}.${part}.bias`, [STATE], 'zeros');
      }
    }
    yield* norm(`${name}.mlp_ln`);
    yield tensor(`${name}.mlp.0.weight`, [4 * STATE, STATE]);
    yield tensor(`${name}.mlp.0.bias`, [4 * STATE], 'zeros');
    yield tensor(`${name}.mlp.2.weight`, [STATE, 4 * STATE]);
    yield tensor(`${name}.mlp.2.bias`, [STATE], 'zeros');
  }
}

/** One tensor: its number of dimensions, length of its name, type, dimensions from the last to the first, name, numbers. */
function tensorOf(name: string, shape: readonly number[], fill: Fill, random: () => number): Buffer {
  const isHalf = name.endsWith('weight') && shape.length > 1;
  const count = shape.reduce((product, size) => product * size, 1);
  const head = integers(shape.length, Buffer.byteLength(name), isHalf ? FLOAT_16 : FLOAT_32);
  const numbers = isHalf ? new Uint16Array(count) : new Float32Array(count);
  for (let at = 0; fill !== 'zeros' && at < count; at += 1) {
    if (fill === 'ones') numbers[at] = 1;
    else numbers[at] = isHalf ? smallHalf(random()) : smallFloat(random());
  }
  const sizes = integers(...shape.toReversed());
  return Buffer.concat([head, sizes, Buffer.from(name), Buffer.from(numbers.buffer)]);
}

/** A 16-bit float of 0.0156 to 0.0312, or the negative of one, from random bits: sign, exponent -6, fraction. */
function smallHalf(bits: number): number {
  return (bits & 0x8000) | (9 << 10) | (bits & 0x3ff);
}

/** -0.02 to 0.02. */
function smallFloat(bits: number): number {
  return (bits / 0xffff - 0.5) * 0.04;
}

/** Returns 16 random bits per call, the same ones in each run (a linear congruential generator). */
function randomBits(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state >>> 15;
  };
}

function integers(...values: readonly number[]): Buffer {
  return Buffer.from(Int32Array.from(values).buffer);
}
