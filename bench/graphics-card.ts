/**
 * `node bench/graphics-card.ts [MODEL…]`: what a graphics card does for translators, with random weights of the real size, 60 tokens in
 * and 40 out. Writes up to 5.7 GB into the temporary folder. Without a card it says so, and measures nothing.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nameDevices } from '../src/engines/backends/llama/card.ts';
import { listCards, openModel } from '../src/engines/backends/llama/model.ts';
import { findLlamaRuntime } from '../src/engines/backends/llama/runtime.ts';
import { listTensors, type ModelSizes, writeHeader } from '../test/engines/backends/llama/tiny-gguf.ts';
import { median } from './measure.ts';
import { openDesk } from './models.ts';

const MODELS: Readonly<Record<string, ModelSizes>> = {
  '1.8B': { layers: 32, width: 2048, hidden: 6144, heads: 16, keyHeads: 4, words: 60_000 },
  '7B': { layers: 32, width: 4096, hidden: 14_336, heads: 32, keyHeads: 8, words: 60_000 },
};
/** As many as vloc uses at most. */
const THREADS = 8;
const CUES = 5;
/** A token for each letter; the template of the chat adds twenty. */
const PROMPT = 'good day and a word or two to be said b';
const TOKENS = 40;

// Q4_K: 256 weights in 144 bytes, of which the first four are two scales as halves of 16 bits, and norms as floats.
const Q4_K = 12;
const F32 = 0;
const BLOCK = { weights: 256, bytes: 144 };
/** 2 ** -12, so that the sums of a layer stay finite. */
const SCALE = 0x0c00;

/** Random blocks that are written again and again: the content does not change the speed. */
function makeBlocks(count: number): Buffer {
  let state = 1;
  const bytes = Buffer.from(
    Uint8Array.from({ length: count * BLOCK.bytes }, () => {
      state = (state * 48_271) % 2_147_483_647;
      return state;
    }),
  );
  for (let at = 0; at < bytes.length; at += BLOCK.bytes) {
    bytes.writeUInt16LE(SCALE, at);
    bytes.writeUInt16LE(SCALE, at + 2);
  }
  return bytes;
}

function writeModel(path: string, sizes: ModelSizes): void {
  const tensors = listTensors(sizes).map((tensor) => {
    const count = tensor.shape.reduce((product, size) => product * size, 1);
    return tensor.shape.length === 1
      ? { ...tensor, type: F32, bytes: 4 * count }
      : { ...tensor, type: Q4_K, bytes: (count / BLOCK.weights) * BLOCK.bytes };
  });
  const blocks = makeBlocks(8_192);
  const ones = Buffer.from(new Float32Array(sizes.width).fill(1).buffer);
  const file = openSync(path, 'w');
  writeSync(file, writeHeader(sizes, tensors));
  for (const { type, bytes } of tensors) {
    if (type === F32) writeSync(file, ones);
    else
      for (let left = bytes; left > 0; left -= blocks.length)
        writeSync(file, blocks, 0, Math.min(left, blocks.length));
  }
  closeSync(file);
}

const runtimeFolder = spawnSync('sh', ['.ci/llama', '--check'], { encoding: 'utf8' }).stdout.trim();
const runtime = (await findLlamaRuntime(runtimeFolder)) ?? '';
const folder = mkdtempSync(join(tmpdir(), 'vloc-card-'));
const { parts, work } = openDesk(folder);
const look = () => listCards(runtime, parts, work.signal);

/** Seconds of a cue and of the load, and bytes of graphics memory. */
async function measure(model: string, gpu: boolean) {
  const before = (await look())?.freeBytes ?? 0;
  const load = { runtime, model, threads: THREADS, contextSize: 4096 };
  const facts = { name: 'random', folder: runtimeFolder, load, gpu, timeout: 600, bytes: 0 };
  const opened = openModel(facts, parts);
  const seconds: number[] = [];
  for (let cue = 0; cue <= CUES; cue += 1) {
    const begin = performance.now();
    await opened.ask({ prompt: PROMPT, sampling: { temperature: 0 }, maxTokens: TOKENS }, work.signal);
    seconds.push((performance.now() - begin) / 1000);
  }
  const taken = before - ((await look())?.freeBytes ?? 0);
  const where = opened.where();
  await opened.close();
  const [first = 0, ...others] = seconds;
  return { cue: median(others), load: first - median(others), taken, where };
}

try {
  const card = runtime === '' ? null : await look();
  if (card === null || card.devices.length === 0) {
    const why =
      runtime === '' ? 'node-llama-cpp is not installed (sh .ci/llama)' : 'there is no graphics card';
    process.stdout.write(`not measured: ${why}\n`);
  } else {
    process.stdout.write(`${nameDevices(card)}, ${(card.freeBytes / 1024 ** 3).toFixed(1)} GiB free\n\n`);
    process.stdout.write(
      `| model | card, s a cue | ${THREADS} threads | load | graphics memory | where |\n| --- | --- | --- | --- | --- | --- |\n`,
    );
    const asked = process.argv.slice(2);
    for (const [name, sizes] of Object.entries(MODELS)) {
      if (asked.length > 0 && !asked.includes(name)) continue;
      const path = join(folder, 'random.gguf');
      writeModel(path, sizes);
      const [onCard, onProcessor] = [await measure(path, true), await measure(path, false)];
      process.stdout.write(
        `| ${name} Q4_K | ${onCard.cue.toFixed(2)} | ${onProcessor.cue.toFixed(2)} | ${onCard.load.toFixed(1)} s | ${(onCard.taken / 1024 ** 3).toFixed(1)} GiB | ${onCard.where} |\n`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
