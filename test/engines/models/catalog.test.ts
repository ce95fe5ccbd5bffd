import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSherpaRecognizer } from '../../../src/engines/backends/sherpa/recognize.ts';
import { createSherpaSpeaker } from '../../../src/engines/backends/sherpa/speak.ts';
import { checkEngines } from '../../../src/engines/config-check.ts';
import { fillEntry, parseCatalog, readCatalog } from '../../../src/engines/models/catalog.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createParts } from '../backends/user-program.ts';
import { createWork } from '../workspace.ts';

const models = await readCatalog();

const [first] = models;
const changed = (change: object, file: object = {}) => ({
  version: 1,
  models: [{ ...first, files: [{ ...first?.files[0], ...file }], ...change }],
});

describe('the catalogue', () => {
  it('has each model once, with files of their own', () => {
    const ids = models.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { files } of models) {
      expect(new Set(files.map(({ path }) => path)).size).toBe(files.length);
    }
  });

  it('has an entry of engines.json for each model', () => {
    for (const model of models) {
      const entry = fillEntry(model, '/models/it');
      expect(JSON.stringify(entry)).toContain('/models/it');
      checkEngines({ [model.step]: [entry] }, model.id);
    }
  });

  it.each(models.filter(({ step, entry }) => entry.type === 'sherpa' && step !== 'diarize'))(
    'has for $title the files of a type that sherpa runs, its languages and its voices',
    async (model) => {
      const folder = join(makeFolder(), model.id);
      for (const { path } of model.files) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        // The vocabulary of Parakeet tells its version.
        writeFileSync(join(folder, path), path === 'tokens.txt' ? 'a 0\n'.repeat(8_192) : '');
      }
      const entry = { ...fillEntry(model, folder), type: 'sherpa', folder } as const;
      const run = createWork(folder);
      if (model.step === 'recognize') {
        const recognizer = await createSherpaRecognizer(entry, createParts());
        expect([...(await recognizer.languages(run))].toSorted()).toEqual(model.languages.toSorted());
      } else {
        const speaker = await createSherpaSpeaker(entry, createParts());
        const spoken = await speaker.voices(run);
        expect(spoken.map(({ language }) => language).toSorted()).toEqual(model.languages.toSorted());
      }
    },
  );

  it('names for Kokoro the data of espeak-ng that each of its languages needs', () => {
    const kokoro = models.find(({ id }) => id === 'kokoro');
    const paths = kokoro?.files.map(({ path }) => path);
    for (const language of kokoro?.languages ?? []) {
      const needed = language === 'zh' ? 'lexicon-zh.txt' : `espeak-ng-data/${language}_dict`;
      expect(paths).toContain(needed);
    }
  });

  it.each([
    ['a file without a commit', {}, { url: 'https://huggingface.co/owner/name/resolve/main/model.onnx' }],
    ['a file of a short commit', {}, { url: 'https://huggingface.co/owner/name/resolve/0123abc/model.onnx' }],
    ['a file of another host', {}, { url: `https://example.com/a/b/resolve/${'a'.repeat(40)}/model.onnx` }],
    ['a file without TLS', {}, { url: `http://huggingface.co/a/b/resolve/${'a'.repeat(40)}/model.onnx` }],
    ['a file without SHA-256', {}, { sha256: '' }],
    ['a file without a size', {}, { bytes: 0 }],
    ['a path outside', {}, { path: '../model.onnx' }],
    ['an absolute path', {}, { path: '/etc/passwd' }],
    ['a hidden path', {}, { path: 'data/.hidden' }],
    ['a name outside', { id: '../x' }, {}],
    ['no files', { files: [] }, {}],
    ['an unknown field', { script: 'x' }, {}],
  ])('refuses %s', (_, change, file) => {
    expect(() => parseCatalog(changed(change, file))).toThrow('the catalogue of models is damaged');
  });

  it('accepts what it has', () => {
    expect(parseCatalog(changed({}))).toHaveLength(1);
  });
});
