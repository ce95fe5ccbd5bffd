/** What tests of type llama share. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import type { Translator } from '../../../../src/engines/backend.ts';
import { createLlamaTranslator } from '../../../../src/engines/backends/llama/translate.ts';
import type { BackendParts } from '../../../../src/engines/backends/parts.ts';
import type { TypedEntry } from '../../../../src/engines/config.ts';
// Declares what is injected.
import type {} from '../../../structure/run-folder.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { createWork } from '../../workspace.ts';
import { createParts } from '../user-program.ts';
import { fakeModule, writePackage } from './fake-runtime.ts';
import { writeTinyGguf } from './tiny-gguf.ts';

/** Folder of node-llama-cpp; null if it is not installed. Tests that need it are then skipped, except in CI. */
export const RUNTIME = inject('llamaRuntime');

/** Writes a tiny model and returns the path of its file. */
export function tinyModel(word?: string): string {
  const folder = join(makeFolder(), 'tiny');
  mkdirSync(folder);
  return writeTinyGguf(join(folder, 'tiny.gguf'), word);
}

/** Creates the translator of a model, which ends with the test. */
export async function createTiny(
  model: string,
  fields: Partial<TypedEntry<'translate', 'llama'>> = {},
  parts: Partial<BackendParts> = {},
): Promise<Translator> {
  const entry = { type: 'llama' as const, model, runtime: RUNTIME ?? '', ...fields };
  const translator = await createLlamaTranslator(entry, createParts(parts));
  onTestFinished(() => translator.close());
  return translator;
}

/** Writes a module in place of node-llama-cpp: one answer for each prompt, in order. Its prompts can be read afterwards. */
export function scriptedRuntime(answers: readonly string[]) {
  const runtime = makeFolder();
  const log = join(runtime, 'prompts');
  writeFileSync(log, '');
  const prompt = `
    appendFileSync(${JSON.stringify(log)}, JSON.stringify(text) + '\\n');
    return answers.shift() ?? 'no more answers';`;
  writePackage(
    runtime,
    'node-llama-cpp',
    `import { appendFileSync } from 'node:fs';
    const answers = ${JSON.stringify(answers)};
    ${fakeModule({ prompt })}`,
  );
  const prompts = () => {
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as string); // each line is one prompt
  };
  return { runtime, prompts };
}

/** A translation from English to Spanish of texts of 2 s. */
export function task(...texts: readonly string[]) {
  return { from: 'en', to: 'es', texts: texts.map((text) => ({ text, durationMs: 2_000 })) };
}

export const work = (signal?: AbortSignal) => createWork(makeFolder(), signal);
