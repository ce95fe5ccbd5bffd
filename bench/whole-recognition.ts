/**
 * Recognizes a whole video of any length with the engines. The service and its engines accept at most a quarter of an
 * hour.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPrograms } from '../src/engines/programs.ts';
import { recognize } from '../src/engines/recognize/recognize.ts';
import { createStepEngines } from '../src/engines/registry.ts';
import { WITH_VOICE, WORKER_FILES, type WorkerMessage } from '../src/engines/separate/worker-messages.ts';
import type { SubtitleLine } from '../src/protocol/subtitle-line.ts';
import { ffmpeg } from './talk.ts';

const WORKER = fileURLToPath(new URL('../src/engines/separate/worker.ts', import.meta.url));

/** Decodes, separates and recognizes like the engines, without their limit. @param folder is created */
export async function recognizeWhole(video: string, folder: string): Promise<readonly SubtitleLine[]> {
  mkdirSync(folder);
  const programs = createPrograms(process.env.PATH ?? '');
  const work = { folder, signal: new AbortController().signal, report: () => {} };
  const path = (name: keyof typeof WORKER_FILES) => join(folder, WORKER_FILES[name]);
  const sound = (rate: number, channels: number) => [
    ...['-map', '0:a:0', '-af', `aresample=${rate}:async=1:first_pts=0`],
    ...['-ac', String(channels), '-c:a', 'pcm_s16le'],
  ];
  ffmpeg('-i', video, ...sound(48_000, 2), path('mix'), ...sound(16_000, 1), path('mono'));
  let speech: Extract<WorkerMessage, { type: 'speech' }> | null = null;
  const onLine = (line: string) => {
    if (!line.startsWith('{')) return; // a warning from native code
    const message = JSON.parse(line) as WorkerMessage; // written by the worker, so trusted
    if (message.type === 'speech') speech = message;
  };
  await programs.run(process.execPath, [WORKER, folder, WITH_VOICE], { ...work, stdin: 'open', onLine });
  if (speech === null) throw new Error('the separation has found nothing');
  const voice = join(folder, 'voice-16k.wav');
  ffmpeg('-i', path('voice'), '-ar', '16000', '-c:a', 'pcm_s16le', voice);
  const { segments } = speech as Extract<WorkerMessage, { type: 'speech' }>; // set in a callback
  const stems = { vocals: path('vocals'), background: path('background'), voice };
  const engines = await createStepEngines(null, {
    programs,
    env: {},
    warn: () => {},
    sleep: async () => {},
  });
  const use = { step: 'separate', engine: 'builtin', skipped: [] } as const;
  const separation = { ...stems, segments, use };
  return (await recognize(engines, separation, 'en', work)).subtitle.lines;
}
