/**
 * The cepstra of utterances, normalized for PocketSphinx. Subtracting their mean removes the sound of the microphone and the room. The
 * mean of a short utterance also depends on its words, so it is drawn towards the mean of all utterances of the video.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WAV_HEADER_BYTES } from '../../media/audio/wav.ts';
import type { Programs } from '../../media/programs/programs.ts';
import type { BackendWork } from '../backend.ts';
import type { SpeechModel } from './model.ts';

/** The front end of PocketSphinx: no noise or silence removal, because the voice is already separated. */
const FRONT_END = ['-remove_noise', 'no', '-remove_silence', 'no'];

/** Cepstra of a frame, the default of PocketSphinx (`-ceplen`), which all its models use. */
const WIDTH = 13;
/** Before the 32-bit floats is their number. */
const HEADER_BYTES = 4;
const FLOAT_BYTES = 4;

/** The weight of the mean of all utterances against that of one, in frames of 10 ms. Measured in docs/quality.md. */
const SHARED_FRAMES = 300;

/**
 * Writes the normalized cepstra of each utterance, as `NAME.mfc` beside its `NAME.wav`.
 * @param names of at least one utterance
 * @returns the file with the parameters of the front end, for decoding these cepstra
 */
export async function normalizeUtterances(
  programs: Programs,
  model: SpeechModel,
  names: readonly string[],
  work: BackendWork,
): Promise<string> {
  const at = (file: string) => join(work.folder, file);
  // The program cannot run its front end alone. The search for a phrase adds the least time; its result is not used.
  await writeFile(at('phrase.dict'), 'silence SIL\n');
  await writeFile(at('phrase.kws'), 'silence /1/\n');
  await writeFile(at('cepstra.ctl'), names.map((name) => `${name}\n`).join(''));
  const args = [
    ...['-hmm', model.acousticModel, '-dict', at('phrase.dict'), '-kws', at('phrase.kws')],
    ...['-ctl', at('cepstra.ctl'), '-cepdir', work.folder, '-cepext', '.wav'],
    ...['-adcin', 'yes', '-adchdr', String(WAV_HEADER_BYTES), '-mfclogdir', work.folder, ...FRONT_END],
    ...['-topn', '1', '-beam', '1e-3'],
  ];
  await programs.run('pocketsphinx_batch', args, work);
  // The log of cepstra has a number for each utterance.
  const raw = (index: number) => readFile(at(`${String(index).padStart(9, '0')}.mfc`));
  const shared = newSum();
  for (const index of names.keys()) addFrames(shared, readCepstra(await raw(index)));
  for (const [index, name] of names.entries()) {
    const cepstra = readCepstra(await raw(index));
    await writeFile(at(`${name}.mfc`), writeCepstra(normalize(cepstra, shared)));
  }
  const ofModel = join(model.acousticModel, 'feat.params');
  const parameters = existsSync(ofModel) ? await readFile(ofModel, 'utf8') : '';
  await writeFile(at('feat.params'), withoutNormalization(parameters));
  return at('feat.params');
}

/** The frames of speech seen so far. */
interface Sum {
  readonly totals: Float64Array;
  frames: number;
}

/** Returns a sum of no frames. */
export function newSum(): Sum {
  return { totals: new Float64Array(WIDTH), frames: 0 };
}

/** Adds the frames that have sound: in digital silence, the first cepstrum is negative. */
export function addFrames(sum: Sum, cepstra: Float32Array): void {
  for (let at = 0; at + WIDTH <= cepstra.length; at += WIDTH) {
    if ((cepstra[at] ?? 0) < 0) continue;
    for (let index = 0; index < WIDTH; index += 1) {
      sum.totals[index] = (sum.totals[index] ?? 0) + (cepstra[at + index] ?? 0);
    }
    sum.frames += 1;
  }
}

/**
 * Returns the cepstra minus their mean, drawn towards the mean of `shared`.
 * @param shared the frames of all utterances
 */
export function normalize(cepstra: Float32Array, shared: Sum): Float32Array {
  if (shared.frames === 0) return cepstra;
  const own = newSum();
  addFrames(own, cepstra);
  const mean = own.totals.map((total, index) => {
    const common = (shared.totals[index] ?? 0) / shared.frames;
    return (total + SHARED_FRAMES * common) / (own.frames + SHARED_FRAMES);
  });
  return cepstra.map((value, at) => value - (mean[at % WIDTH] ?? 0));
}

/** Reads a file of cepstra in the byte order of this machine, as PocketSphinx writes it. */
function readCepstra(file: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(file.subarray(HEADER_BYTES)).buffer);
}

function writeCepstra(cepstra: Float32Array): Buffer {
  const file = Buffer.alloc(HEADER_BYTES + FLOAT_BYTES * cepstra.length);
  new Int32Array(file.buffer, file.byteOffset, 1)[0] = cepstra.length;
  new Float32Array(file.buffer, file.byteOffset + HEADER_BYTES, cepstra.length).set(cepstra);
  return file;
}

/** Parameters in this file of a model override the command line, so normalization can only be turned off here. */
export function withoutNormalization(parameters: string): string {
  return `${parameters.replace(/^\s*-cmn\s+\S+\s*$/gmu, '').trim()}\n-cmn none\n`;
}
