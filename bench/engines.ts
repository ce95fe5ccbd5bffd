/**
 * What vloc adds to the time of engines of `engines.json`, loading and throughput of models, and a quarter of an hour of speech for a server that accepts no more
 * than 25 MB.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBackend } from '../src/engines/create.ts';
import { writeTinyVoice } from '../test/engines/backends/sherpa/tiny-models.ts';
import type { Figure } from './figure.ts';
import { measureLongSpeech } from './long-speech.ts';
import { median } from './measure.ts';
import { measureModels, openDesk } from './models.ts';
import { openServer } from './slow-server.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const ROUNDS = 15;
const SHORT_ROUNDS = 2;
/** Loading takes about a second. */
const MODEL_ROUNDS = 5;
/** The engine's own time, in milliseconds: a model on a graphics card. */
const ENGINE_MS = 200;
/** Source: the issue "Pluggable engine backends". */
const MOST_MS = 50;

export async function measureEngines(isShort: boolean): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  try {
    return [
      ...(await measureCalls(folder, isShort ? SHORT_ROUNDS : ROUNDS)),
      ...(await measureModels(folder, makeSounds(folder).voice, isShort ? 1 : MODEL_ROUNDS)),
      ...(await measureLongSpeech(folder, isShort)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureCalls(folder: string, rounds: number): Promise<Figure[]> {
  const sounds = makeSounds(folder);
  const server = await openServer(ENGINE_MS, readFileSync(sounds.speech));
  const { url } = server;
  const { parts, work } = openDesk(folder);
  const model = { type: 'openai', url, model: 'm' } as const;
  const folderOfVoice = writeTinyVoice(join(folder, 'tone'));
  const [recognizer, translator, libre, voice, program, cat, sherpa] = await Promise.all([
    createBackend('recognize', model, parts),
    createBackend('translate', model, parts),
    createBackend('translate', { type: 'libretranslate', url: url.replace('/v1', '') }, parts),
    createBackend('speak', { ...model, languages: ['es'] }, parts),
    createBackend('speak', { type: 'command', run: ['cat', sounds.speech], languages: ['es'] }, parts),
    createBackend('translate', { type: 'command', run: ['cat'], languages: ['en', 'es'] }, parts),
    createBackend('speak', { type: 'sherpa', folder: folderOfVoice, languages: ['es'] }, parts),
  ]);
  const texts = { from: 'en', to: 'es', texts: [{ text: 'The house is red', durationMs: 2000 }] };
  const request = { text: 'La casa es roja', language: 'es', voiceMode: 'auto', speed: 1 } as const;
  const spoken = { voice: sounds.voice, segments: [{ start: 0.2, end: 2.8 }], language: 'en' };
  const engine = async () => server.lastMs();
  const added = (name: string, call: () => Promise<unknown>, alone: () => Promise<number>) =>
    measureAdded(name, { call, alone, rounds });
  const bare =
    (...words: readonly string[]) =>
    () =>
      milliseconds(() => runBare(words));
  try {
    return [
      await added('translation by a language model', () => translator.translate(texts, work), engine),
      await added('translation by LibreTranslate', () => libre.translate(texts, work), engine),
      await added('speech from a server', () => voice.speak(request, work), engine),
      await added('recognition of 3 s by a server', () => recognizer.recognize(spoken, work), engine),
      await added('translation by a program', () => cat.translate(texts, work), bare('cat')),
      await added('speech from a program', () => program.speak(request, work), bare('cat', sounds.speech)),
      // The model has a few numbers, so its own time counts as nothing.
      await added(
        'speech from a loaded model of sherpa',
        () => sherpa.speak({ ...request, text: 'hola' }, work),
        async () => 0,
      ),
    ];
  } finally {
    await Promise.all([recognizer, translator, libre, voice, sherpa].map((backend) => backend.close()));
    await server.close();
  }
}

/** Measures a call and the engine alone, in turns. */
async function measureAdded(
  name: string,
  { call, alone, rounds }: { call: () => Promise<unknown>; alone: () => Promise<number>; rounds: number },
): Promise<Figure> {
  await call();
  const differences: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    differences.push((await milliseconds(call)) - (await alone()));
  }
  return {
    name: `${name}: time of a call beyond the engine's own`,
    value: median(differences),
    unit: 'ms',
    limit: { atMost: MOST_MS },
    // A program alone may happen to be slowed down more than the call.
    plausible: [-10_000, 600_000],
  };
}

async function milliseconds(action: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await action();
  return performance.now() - begin;
}

async function runBare([program = '', ...args]: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => {}); // it may end before it has read anything
  child.stdin.end('text\n');
  child.stdout.resume();
  await once(child, 'close');
}

/** A second of speech at 24 kHz, as engines return it, and three as they receive it. */
function makeSounds(folder: string): { readonly speech: string; readonly voice: string } {
  const clip = here('../test/fixtures/speech-0880.flac');
  const convert = (to: string, ...options: readonly string[]) => {
    const path = join(folder, to);
    execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-i', clip, ...options, path]);
    return path;
  };
  return {
    speech: convert('speech.wav', '-ss', '0.5', '-t', '1', '-ar', '24000'),
    voice: convert('voice.wav', '-af', 'apad', '-t', '3', '-ar', '16000'),
  };
}
