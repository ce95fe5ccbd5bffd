/** A GGUF model in workers: on the graphics card if there is one, else on the processor. */
import { fileURLToPath } from 'node:url';
import type { BackendParts } from '../parts.ts';
import { createWorkers, LoadFailure } from '../workers.ts';
import { cardVariables, describePlace, findCardObstacle, notePlace } from './card.ts';
import type { LlamaPart, LlamaRequest, Place, PromptRequest } from './requests.ts';

interface ModelFacts {
  readonly name: string;
  /** Folder of node-llama-cpp. */
  readonly folder: string;
  readonly load: Omit<PromptRequest['load'], 'gpu'>;
  /** False: the processor, as the entry demands. */
  readonly gpu: boolean;
  /** Time limit of an answer, in seconds. */
  readonly timeout: number;
  /** Memory that the model takes, in bytes. */
  readonly bytes: number;
}

interface LlamaModel {
  /** Returns the answer to a prompt. @throws JobFailure that names the model, or the signal's reason */
  ask(prompt: Omit<PromptRequest, 'load'>, signal: AbortSignal): Promise<string>;
  /** Where it ran last; null before the first answer. */
  where(): string | null;
  peakBytes(): number | null;
  close(): Promise<void>;
}

/** Opens a model, which is loaded for the first prompt. */
export function openModel(facts: ModelFacts, parts: BackendParts): LlamaModel {
  const { name, folder, load, timeout, bytes } = facts;
  const env = async () => (facts.gpu ? cardVariables(parts.env) : {});
  const workers = createWorkers<LlamaRequest, LlamaPart>(
    { name, program: workerPath(), timeout, bytes, env },
    parts,
  );
  let { gpu } = facts;
  let fault: string | null = null;
  let place: Place | null = null;
  let where: string | null = null;

  async function askOn(gpu: boolean, prompt: Omit<PromptRequest, 'load'>, signal: AbortSignal) {
    let answer = '';
    await workers.call({ ...prompt, load: { ...load, gpu } }, signal, (part) => {
      if ('answer' in part) answer = part.answer;
      else place = part.place;
    });
    return answer;
  }

  async function askAnywhere(prompt: Omit<PromptRequest, 'load'>, signal: AbortSignal): Promise<string> {
    try {
      return await askOn(gpu, prompt, signal);
    } catch (error) {
      const isOnCard = gpu && (place?.devices.length ?? 0) > 0;
      if (!isOnCard || !(error instanceof LoadFailure)) throw error;
      const answer = await askOn(false, prompt, signal);
      gpu = false;
      fault ??= `the card failed: ${error.what}`;
      parts.warn(
        `${name} runs on the processor, because the graphics card failed: ${error.what}. Update its driver, or set "gpu": false in engines.json`,
      );
      return answer;
    }
  }

  async function findReason({ devices }: Place): Promise<string | null> {
    if (!facts.gpu) return '"gpu": false in engines.json';
    return fault ?? (devices.length > 0 ? null : await findCardObstacle(parts.env, folder));
  }

  return {
    async ask(prompt, signal) {
      const before = place;
      const answer = await askAnywhere(prompt, signal);
      if (place !== null && place !== before) {
        where = describePlace(place, await findReason(place));
        await notePlace(parts.env, load.model, where);
      }
      return answer;
    },
    where: () => where,
    peakBytes: workers.peakBytes,
    close: workers.close,
  };
}

/** Asks node-llama-cpp for the cards that it can use. @throws JobFailure, or the signal's reason */
export async function listCards(
  runtime: string,
  parts: BackendParts,
  signal: AbortSignal,
): Promise<Place | null> {
  const facts = { name: 'node-llama-cpp', program: workerPath(), timeout: CARDS_TIMEOUT, bytes: 0 };
  const env = () => cardVariables(parts.env);
  const workers = createWorkers<LlamaRequest, LlamaPart>({ ...facts, env }, parts);
  let place: Place | null = null;
  try {
    await workers.call({ cards: runtime }, signal, (part) => {
      if ('place' in part) place = part.place;
    });
    return place;
  } finally {
    await workers.close();
  }
}

/** Seconds; a driver opens its cards within two. */
const CARDS_TIMEOUT = 60;

/** In the source tree the worker is beside this file; in the build it is beside the bundle, under another name. */
function workerPath(): string {
  const name = import.meta.url.endsWith('.ts') ? './worker.ts' : './llama-worker.js';
  return fileURLToPath(new URL(name, import.meta.url));
}
