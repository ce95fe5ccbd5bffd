/** A catalogue of generated models that sherpa-onnx really loads, in folders that a hub serves. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { writeTinyGguf } from '../engines/backends/llama/tiny-gguf.ts';
import {
  writeTinyDiarization,
  writeTinyRecognizer,
  writeTinyVoice,
} from '../engines/backends/sherpa/tiny-models.ts';
import { COMMIT } from './hub-server.ts';

const MIT = {
  spdx: 'MIT',
  url: 'https://example.com/licence',
  notice: 'Tiny models by nobody.',
  commercial: 'yes',
} as const;

/** The entries of the files of a repository. */
export function describeFiles(folder: string, id: string) {
  const root = join(folder, id);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = relative(root, join(entry.parentPath, entry.name));
      const bytes = readFileSync(join(root, path));
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return {
        path,
        url: `https://huggingface.co/tiny/${id}/resolve/${COMMIT}/${path}`,
        bytes: bytes.length,
        sha256,
      };
    })
    .toSorted((left, right) => (left.path < right.path ? -1 : 1));
}

/** More than a chunk of the network, so that a download can be cut in the middle. */
const PADDING = 200_000;

/** Writes a recognizer of Spanish and an English voice, and returns their catalogue. */
export function writeTinyCatalog(folder: string) {
  writeTinyRecognizer(join(folder, 'tiny-ears'));
  writeTinyVoice(join(folder, 'tiny-voice'), { padding: 'x'.repeat(PADDING) });
  // Words of the sample.
  writeFileSync(join(folder, 'tiny-voice', 'lexicon.txt'), 'and a n d\nmister m i s t e r\nhad h a d\n');
  const model = (id: string, step: string, languages: readonly string[]) => ({
    ...{ id, step, title: id, size: 'small', languages, licence: MIT, memoryMib: 1, published: [] },
    entry: { type: 'sherpa', folder: '{folder}', languages: '{languages}' },
    files: describeFiles(folder, id),
  });
  return {
    version: 1,
    models: [model('tiny-ears', 'recognize', ['es']), model('tiny-voice', 'speak', ['en'])],
  };
}

/** Adds a translator, whose only answer is a word of the voice, and a model of speakers to a catalogue in a folder. */
export function addTinyWordsAndSpeakers(folder: string, catalog: ReturnType<typeof writeTinyCatalog>) {
  mkdirSync(join(folder, 'tiny-words'));
  writeTinyGguf(join(folder, 'tiny-words', 'words.gguf'), 'had');
  const translator = {
    ...{ id: 'tiny-words', step: 'translate', title: 'tiny-words', size: 'small', languages: ['en', 'es'] },
    ...{ licence: MIT, memoryMib: 200, published: [] },
    entry: { type: 'llama', model: '{folder}/words.gguf', languages: '{languages}' },
    files: describeFiles(folder, 'tiny-words'),
  };
  writeTinyDiarization(join(folder, 'tiny-speakers'));
  const diarizer = {
    ...{ id: 'tiny-speakers', step: 'diarize', title: 'tiny-speakers', size: 'small', languages: [] },
    ...{ licence: MIT, memoryMib: 1, published: [] },
    entry: { type: 'sherpa', folder: '{folder}' },
    files: describeFiles(folder, 'tiny-speakers'),
  };
  return { ...catalog, models: [...catalog.models, translator, diarizer] };
}
