/** What tests of type llama share. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import type { BackendWork, Translator } from '../../../../src/engines/backend.ts';
import { RUNTIME_VERSION } from '../../../../src/engines/backends/llama/runtime.ts';
import { createLlamaTranslator } from '../../../../src/engines/backends/llama/translate.ts';
import type { BackendParts } from '../../../../src/engines/backends/parts.ts';
import type { TypedEntry } from '../../../../src/engines/config.ts';
// Declares what is injected.
import type {} from '../../../structure/run-folder.ts';
import { temporaryFolder } from '../../workspace.ts';
import { createParts } from '../user-program.ts';
import { writeTinyGguf } from './tiny-gguf.ts';

/** Folder of node-llama-cpp; null if it is not installed. Tests that need it are then skipped, except in CI. */
export const RUNTIME = inject('llamaRuntime');

/** Writes a tiny model and returns the path of its file. */
export function tinyModel(word?: string): string {
  const folder = join(temporaryFolder(), 'tiny');
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
  const runtime = temporaryFolder();
  const module = join(runtime, 'node_modules', 'node-llama-cpp');
  const log = join(runtime, 'prompts');
  mkdirSync(join(module, 'dist'), { recursive: true });
  writeFileSync(log, '');
  writeFileSync(join(module, 'package.json'), JSON.stringify({ version: RUNTIME_VERSION, type: 'module' }));
  const code = `
    import { appendFileSync } from 'node:fs';
    const answers = ${JSON.stringify(answers)};
    const context = { getSequence: () => ({}) };
    const model = { gpuLayers: 0, fileInsights: { totalLayers: 1 }, createContext: async () => context };
    export const getLlama = async () => ({
      gpu: false,
      getGpuDeviceNames: async () => [],
      getVramState: async () => ({ total: 0, free: 0 }),
      loadModel: async () => model,
    });
    export class LlamaChatSession {
      resetChatHistory() {}
      async prompt(text) {
        appendFileSync(${JSON.stringify(log)}, JSON.stringify(text) + '\\n');
        return answers.shift() ?? 'no more answers';
      }
    }`;
  writeFileSync(join(module, 'dist', 'index.js'), code);
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

export function work(signal = new AbortController().signal): BackendWork & { readonly reports: number[] } {
  const reports: number[] = [];
  return { signal, folder: temporaryFolder(), reports, report: (fraction) => void reports.push(fraction) };
}
