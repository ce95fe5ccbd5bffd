/** Separates a video into stems and finds the times of speech. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Work } from '../engine.ts';
import { fileAddress, ownInput, QUIET } from '../media/arguments.ts';
import { decodeAudio, SPEECH_FORMAT } from '../media/decode-audio.ts';
import type { Programs } from '../programs.ts';
import { portion } from '../run/progress.ts';
import type { Segment } from './segments.ts';
import { WITH_VOICE, WORKER_FILES, type WorkerMessage } from './worker-messages.ts';

export interface Separation {
  /** 48 kHz stereo WAV files. The two add up to the sound of the video, sample for sample. */
  readonly vocals: string;
  readonly background: string;
  /** 16 kHz mono WAV for recognition; null if it was not requested. */
  readonly voice: string | null;
  /** The times of speech, in order. */
  readonly segments: readonly Segment[];
  /** Mean level of the speech in decibels below full scale; null without speech. */
  readonly speechDecibels: number | null;
}

/** Measured shares of the time: decoding, the worker, resampling the voice to 16 kHz. */
const SHARES = { decode: 0.04, worker: 0.98 } as const;

/**
 * Separates the sound of a video.
 * @param withVoice whether the result will be used for recognition
 * @throws JobFailure, ProgramMissing, ChildFailure
 */
export async function separate(
  programs: Programs,
  video: string,
  withVoice: boolean,
  work: Work,
): Promise<Separation> {
  await decodeAudio(programs, video, work);
  const speech = await runWorker(programs, withVoice, portion(work, SHARES.decode, SHARES.worker));
  const path = (name: keyof typeof WORKER_FILES) => join(work.folder, WORKER_FILES[name]);
  const voice = withVoice ? await resampleVoice(programs, path('voice'), work) : null;
  work.report(1);
  const { segments, speechDecibels } = speech;
  return { vocals: path('vocals'), background: path('background'), voice, segments, speechDecibels };
}

async function runWorker(programs: Programs, withVoice: boolean, work: Work) {
  let speech: Extract<WorkerMessage, { type: 'speech' }> = {
    type: 'speech',
    segments: [],
    speechDecibels: null,
  };
  const onLine = (line: string) => {
    if (!line.startsWith('{')) return; // a warning from native code
    const message = JSON.parse(line) as WorkerMessage; // written by the worker, so trusted
    if (message.type === 'progress') work.report(message.fraction);
    else speech = message;
  };
  const args = [workerPath(), work.folder, ...(withVoice ? [WITH_VOICE] : [])];
  await programs.run(process.execPath, args, { ...work, stdin: 'open', onLine });
  return speech;
}

/** In the source tree the worker is beside this file; in the build it is beside the bundle, under another name. */
function workerPath(): string {
  const name = import.meta.url.endsWith('.ts') ? './worker.ts' : './separate-worker.js';
  return fileURLToPath(new URL(name, import.meta.url));
}

async function resampleVoice(programs: Programs, voice: string, work: Work): Promise<string> {
  const path = join(work.folder, 'voice-16k.wav');
  const rate = ['-ar', String(SPEECH_FORMAT.sampleRate)];
  const args = [
    ...QUIET,
    ...ownInput(voice, 'wav'),
    ...rate,
    '-c:a',
    'pcm_s16le',
    '-f',
    'wav',
    fileAddress(path),
  ];
  await programs.run('ffmpeg', args, work);
  return path;
}
