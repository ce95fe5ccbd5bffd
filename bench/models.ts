/**
 * Loading and throughput of the types of models that run in a worker, with generated models of a few kilobytes: what is left is the
 * time of the worker, its library and its messages.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { BackendWork } from '../src/engines/backend.ts';
import type { BackendParts } from '../src/engines/backends/parts.ts';
import { createBackend } from '../src/engines/create.ts';
import { createPrograms } from '../src/media/programs/programs.ts';
import { writeTinyGguf } from '../test/engines/backends/llama/tiny-gguf.ts';
import {
  writeTinyDiarization,
  writeTinyRecognizer,
  writeTinyVoice,
} from '../test/engines/backends/sherpa/tiny-models.ts';
import { ANY_RATE, ANY_TIME_MS, type Figure } from './figure.ts';
import { median } from './measure.ts';

const CALLS = 10;
/** The folder of node-llama-cpp; empty before `sh .ci/llama` has installed it. */
const RUNTIME = spawnSync('sh', ['.ci/llama', '--check'], { encoding: 'utf8' }).stdout.trim();

interface Case {
  readonly name: string;
  /** Seconds of sound of a call; null for text. */
  readonly seconds: number | null;
  readonly open: () => Promise<{
    readonly call: () => Promise<unknown>;
    readonly close: () => Promise<void>;
  }>;
}

/** @param voice 3 s of 16 kHz mono WAV */
export async function measureModels(folder: string, voice: string, rounds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const each of casesOf(folder, voice)) figures.push(...(await measureModel(each, rounds)));
  return figures;
}

/** What engines need to be created, and to work in a folder. */
export function openDesk(folder: string): { readonly parts: BackendParts; readonly work: BackendWork } {
  const parts = {
    programs: createPrograms(process.env.PATH ?? ''),
    env: process.env,
    warn: () => {},
    sleep: (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }),
  };
  return { parts, work: { signal: new AbortController().signal, folder, report: () => {} } };
}

function casesOf(folder: string, voice: string): readonly Case[] {
  const { parts, work } = openDesk(folder);
  const gguf = join(folder, 'words.gguf');
  const cases: Case[] = [
    {
      name: 'sherpa, recognition',
      seconds: 3,
      async open() {
        const model = {
          type: 'sherpa' as const,
          folder: writeTinyRecognizer(join(folder, 'ears')),
          languages: ['en'],
        };
        const backend = await createBackend('recognize', model, parts);
        const task = { voice, segments: [{ start: 0.2, end: 2.8 }], language: 'en' };
        return { call: () => backend.recognize(task, work), close: () => backend.close() };
      },
    },
    {
      name: 'sherpa, speech',
      seconds: null,
      async open() {
        const model = {
          type: 'sherpa' as const,
          folder: writeTinyVoice(join(folder, 'voice')),
          languages: ['es'],
        };
        const backend = await createBackend('speak', model, parts);
        const request = { text: 'hola', language: 'es', voiceMode: 'auto' as const, speed: 1 };
        return { call: () => backend.speak(request, work), close: () => backend.close() };
      },
    },
    {
      name: 'sherpa, speakers',
      seconds: 3,
      async open() {
        const model = { type: 'sherpa' as const, folder: writeTinyDiarization(join(folder, 'speakers')) };
        const backend = await createBackend('diarize', model, parts);
        return { call: () => backend.diarize(voice, work), close: () => backend.close() };
      },
    },
  ];
  if (RUNTIME === '') return cases;
  writeTinyGguf(gguf, 'had');
  const llama = {
    type: 'llama' as const,
    model: gguf,
    runtime: RUNTIME,
    languages: ['en', 'es'],
    memoryMib: 200,
  };
  const texts = { from: 'en', to: 'es', texts: [{ text: 'good', durationMs: 2000 }] };
  return [
    ...cases,
    {
      name: 'llama, translation',
      seconds: null,
      async open() {
        const backend = await createBackend('translate', llama, parts);
        return { call: () => backend.translate(texts, work), close: () => backend.close() };
      },
    },
  ];
}

/** The first call loads the model; those after it show the throughput. */
async function measureModel({ name, seconds, open }: Case, rounds: number): Promise<Figure[]> {
  const loads: number[] = [];
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { call, close } = await open();
    try {
      const first = await secondsOf(call);
      const later = await secondsOf(async () => {
        for (let at = 0; at < CALLS; at += 1) await call();
      });
      loads.push(first - later / CALLS);
      rates.push((CALLS * (seconds ?? 1)) / later);
    } finally {
      await close();
    }
  }
  const what = seconds === null ? 'calls per second' : 'seconds of sound per second';
  return [
    { name: `${name}: time to load`, value: 1000 * median(loads), unit: 'ms', plausible: ANY_TIME_MS },
    { name: `${name}: ${what}`, value: median(rates), unit: '', plausible: ANY_RATE },
  ];
}

async function secondsOf(action: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await action();
  return (performance.now() - begin) / 1000;
}
