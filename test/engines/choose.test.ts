import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Translator } from '../../src/engines/backend.ts';
import { chooseBackend, type EngineChoice } from '../../src/engines/choose.ts';
import { createStepEngines } from '../../src/engines/create.ts';
import { createApertium } from '../../src/engines/translate/apertium.ts';
import { createPrograms } from '../../src/media/programs/programs.ts';
import { JobFailure } from '../../src/protocol/job-failure.ts';
import { makeFolder } from '../support/make-folder.ts';
import { startServer } from './backends/loopback-server.ts';
import { createWork, ffmpeg, programs, stepEngines } from './workspace.ts';

const PAIR = { from: 'en', to: 'es' };
const explain = async () => new JobFailure('LANGUAGE_NOT_SUPPORTED', 'nothing translates en to es');

/** Apertium on a machine with other language pairs. */
function apertiumWith(name: string, modes: string): Translator {
  const folder = makeFolder();
  writeFileSync(join(folder, 'apertium'), `#!/bin/sh\nprintf '${modes}'\n`);
  chmodSync(join(folder, 'apertium'), 0o755);
  return { ...createApertium(createPrograms(folder)), name };
}

function chooseFor(candidates: readonly EngineChoice<Translator>[]) {
  const work = createWork(makeFolder());
  return chooseBackend('translate', candidates, (translator) => translator.supports(PAIR, work), explain);
}

test('without a configuration each step has the built-in engine', async () => {
  const { recognize, translate, speak, separate } = await stepEngines();
  const names = [recognize, translate, speak, separate].map((step) =>
    step.map(({ backend }) => backend.name),
  );
  expect(names).toEqual([['pocketsphinx'], ['apertium'], ['flite', 'espeak-ng'], ['builtin']]);
});

test('the first engine that supports the language is used, and the skipped ones are named', async () => {
  const french = { backend: apertiumWith('french', 'fra-eng\\n'), fallback: true };
  const spanish = { backend: apertiumWith('spanish', 'eng-spa\\n'), fallback: true };
  const last = { backend: createApertium(programs), fallback: true };
  const { backend, use } = await chooseFor([french, spanish, last]);
  expect(backend.name).toBe('spanish');
  expect(use).toEqual({ step: 'translate', engine: 'spanish', skipped: ['french'] });
});

test('an engine that forbids a fallback ends the job, and says so', async () => {
  const french = { backend: apertiumWith('french', 'fra-eng\\n'), fallback: false };
  const last = { backend: createApertium(programs), fallback: true };
  await expect(chooseFor([french, last])).rejects.toMatchObject({
    code: 'LANGUAGE_NOT_SUPPORTED',
    message: expect.stringMatching(/french does not support this.*"fallback": false.*nothing translates/),
  });
});

test('if no engine supports the language, the job fails with the reason', async () => {
  const french = { backend: apertiumWith('french', 'fra-eng\\n'), fallback: true };
  await expect(chooseFor([french])).rejects.toMatchObject({ message: 'nothing translates en to es' });
});

test("a user's program receives the user's variables, but no key and no variable of vloc", async () => {
  const folder = makeFolder();
  const program = join(folder, 'print-env');
  writeFileSync(program, '#!/bin/sh\nenv > "$1"\ncp "$2" "$3"\n');
  chmodSync(program, 0o755);
  const list = join(folder, 'variables');
  const clip = join(folder, 'clip.wav');
  ffmpeg('-f', 'lavfi', '-i', 'sine=f=300:d=1', '-c:a', 'pcm_s16le', clip);
  const engines = await createStepEngines(
    {
      translate: [{ type: 'openai', url: 'http://localhost:1/v1', model: 'm', key: { env: 'MY_KEY' } }],
      speak: [{ type: 'command', run: [program, list, clip, '{output}'], languages: ['es'] }],
    },
    {
      programs,
      env: { ...process.env, MY_KEY: 'secret', VLOC_SECRET: 'secret', CUDA_VISIBLE_DEVICES: '1' },
      warn: () => {},
      sleep: async () => {},
    },
  );
  const request = { text: 'Hola', language: 'es', voiceMode: 'auto', speed: 1 } as const;
  await engines.speak[0]?.backend.speak(request, createWork(folder));
  const variables = readFileSync(list, 'utf8');
  expect(variables).toContain('CUDA_VISIBLE_DEVICES=1');
  expect(variables).toContain('HOME=');
  expect(variables).not.toContain('secret');
});

test('a call beyond the limit of an engine is not sent while another runs, and can be cancelled meanwhile', async () => {
  const languages = ['en', 'es'].map((code) => ({ code, name: code, targets: ['en', 'es'] }));
  const [begun, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { url, received } = await startServer(({ path }) => {
    if (path === '/languages') return { body: languages };
    begun.resolve();
    return (response) => void answered.promise.then(() => response.end('{"translatedText":["Hola"]}'));
  });
  const server = url.replace('/v1', '');
  const engines = await stepEngines({ translate: [{ type: 'libretranslate', url: server, concurrency: 1 }] });
  const [{ backend } = assert.fail()] = engines.translate;
  const task = { ...PAIR, texts: [{ text: 'Hello', durationMs: 2_000 }] };
  const stop = new AbortController();
  const first = backend.translate(task, createWork(makeFolder()));
  await begun.promise;
  const second = backend.translate(task, createWork(makeFolder(), stop.signal));
  // A request that was sent with the call would be there before these.
  for (const _ of ['first', 'second', 'third']) await fetch(`${server}/languages`);
  stop.abort(new Error('cancelled'));
  await expect(second).rejects.toThrow('cancelled');
  expect(received.filter(({ path }) => path === '/translate')).toHaveLength(1);
  answered.resolve();
  expect(await first).toEqual(['Hola']);
});
