import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BUILT_IN } from '../../src/engines/config.ts';
import { identifyEngines } from '../../src/engines/create.ts';
import { createPrograms } from '../../src/media/programs/programs.ts';
import { ENGINE_STEPS } from '../../src/protocol/provenance.ts';
import { makeFolder } from '../support/make-folder.ts';
import { script } from './backends/user-program.ts';
import { programs } from './workspace.ts';

const parts = { programs, env: { HOME: '/nobody' } };
const SERVER = { type: 'openai', url: 'http://127.0.0.1:1/v1', model: 'large-v3' } as const;
const ofServer = (change: object = {}) => identifyEngines('recognize', [{ ...SERVER, ...change }], parts);

test('an engine is the same while nothing about it changes', async () => {
  for (const step of ENGINE_STEPS) {
    const [once, again] = [1, 2].map(() => identifyEngines(step, BUILT_IN[step], parts));
    expect(await once).toBe(await again);
  }
});

test('engines differ by their settings, and by their fallbacks', async () => {
  const before = await ofServer();
  for (const change of [{ model: 'turbo' }, { url: 'http://127.0.0.1:2/v1' }, { fallback: false }]) {
    expect(await ofServer(change)).not.toBe(before);
  }
  expect(await identifyEngines('recognize', [SERVER, 'pocketsphinx'], parts)).not.toBe(before);
});

test('settings without an effect on results make no difference, and a key is not included', async () => {
  const key = { env: 'ASR_KEY' };
  expect(await ofServer({ timeout: 5, concurrency: 2, insecure: true, key })).toBe(await ofServer());
});

test('the built-in voices change when flite is installed', async () => {
  const folder = makeFolder();
  const identify = () =>
    identifyEngines('speak', BUILT_IN.speak, { ...parts, programs: createPrograms(folder) });
  const before = await identify();
  writeFileSync(join(folder, 'flite'), '', { mode: 0o755 });
  expect(await identify()).not.toBe(before);
});

test('a command changes with its program and with the files that it names', async () => {
  const [program, model] = [script('true'), join(makeFolder(), 'model.bin')];
  writeFileSync(model, 'weights');
  const run = [program, '--model', model, '{input}'];
  const identify = () => identifyEngines('recognize', [{ type: 'command', run }], parts);
  const before = await identify();
  utimesSync(model, 0, 0);
  const changed = await identify();
  expect(changed).not.toBe(before);
  utimesSync(program, 0, 0);
  expect(await identify()).not.toBe(changed);
});

test('a recognizer changes with the terms that it is told', async () => {
  const terms = join(makeFolder(), 'terms.csv');
  writeFileSync(terms, 'term,es\nAcme,=\n');
  const before = await ofServer({ terms });
  writeFileSync(terms, 'term,es\nAcme Labs,=\n');
  expect(await ofServer({ terms })).not.toBe(before);
});

test('a model changes with any file of its folder, also with a deleted one', async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data', 'tokens.txt'), 'a');
  const identify = (path = folder) => identifyEngines('speak', [{ type: 'sherpa', folder: path }], parts);
  const before = await identify();
  writeFileSync(join(folder, 'data', 'tokens.txt'), 'ab');
  expect(await identify()).not.toBe(before);
  expect(await identify(join(folder, 'missing'))).toContain('missing');
});
