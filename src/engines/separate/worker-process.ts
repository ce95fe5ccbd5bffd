/** Starts the separation worker. Arguments and files go in; one JSON object per line comes out. */
import { fileURLToPath } from 'node:url';
import { AUDIO_FILES } from '../../media/audio/decode-audio.ts';
import type { Segment } from '../../media/audio/segments.ts';
import type { Programs } from '../../media/programs/programs.ts';
import type { BackendWork } from '../backend.ts';

type Speech = Pick<Extract<WorkerMessage, { type: 'speech' }>, 'segments'>;

/**
 * Runs the worker on the files in the work folder; see `WORKER_FILES`.
 * @param flags `WITH_VOICE` or `DETECT_ONLY`
 */
export async function runWorker(
  programs: Programs,
  flags: readonly string[],
  work: BackendWork,
): Promise<Speech> {
  let speech: Speech = { segments: [] };
  const onLine = (line: string) => {
    if (!line.startsWith('{')) return; // a warning from native code
    const message = JSON.parse(line) as WorkerMessage; // written by the worker, so trusted
    if (message.type === 'progress') work.report(message.fraction);
    else speech = message;
  };
  const args = [workerPath(), work.folder, ...flags];
  await programs.run(process.execPath, args, { ...work, stdin: 'open', onLine });
  return speech;
}

/** In the source tree the worker is beside this file; in the build it is beside the bundle, under another name. */
function workerPath(): string {
  const name = import.meta.url.endsWith('.ts') ? './worker.ts' : './separate-worker.js';
  return fileURLToPath(new URL(name, import.meta.url));
}

export type WorkerMessage =
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'speech'; readonly segments: readonly Segment[] };

/** File names in the work folder. */
export const WORKER_FILES = {
  ...AUDIO_FILES,
  vocals: 'vocals.wav',
  background: 'background.wav',
  denoised: 'denoised.wav',
  voice: 'voice-48k.wav',
  speech: 'voice-16k.wav',
} as const;

/** Argument after the folder that requests the voice track for recognition. */
export const WITH_VOICE = '--voice';
/** Argument that requests only the detection of speech, in the file `speech`. */
export const DETECT_ONLY = '--detect';
