/** Splits a sound into stems in several parts at the same time, each in a thread of the worker. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { STEM_FORMAT } from '../media/decode-audio.ts';
import { openWav, openWavPart, reserveWav, type WavWriter } from '../media/wav.ts';
import { type Click, withoutClicks } from './clicks.ts';
import { divide, firstFrame, type Part, type StemInput, splitStems } from './stems.ts';
import { WORKER_FILES } from './worker-messages.ts';

/** What all parts share. It is copied to the threads. */
interface SplitPlan extends Pick<StemInput, 'segments' | 'weights' | 'directions'> {
  readonly folder: string;
  readonly source: 'mix' | 'centre';
  /** Whether the voice track for recognition is requested. */
  readonly withVoice: boolean;
  readonly clicks: readonly Click[];
}

interface Task {
  readonly plan: SplitPlan;
  readonly part: Part;
}

const VOICE_FORMAT = { ...STEM_FORMAT, channels: 1 } as const;
/** A thread loads and compiles the code again, which takes as long as it splits about five seconds of sound. */
const PART_SECONDS = 15;

/**
 * Writes the stems of a whole file.
 * @param frames its length
 * @param report receives the completed fraction
 */
export async function splitInParts(
  plan: SplitPlan,
  frames: number,
  report: (fraction: number) => void,
): Promise<void> {
  const path = (name: keyof typeof WORKER_FILES) => join(plan.folder, WORKER_FILES[name]);
  await reserveWav(path('vocals'), STEM_FORMAT, frames);
  await reserveWav(path('background'), STEM_FORMAT, frames);
  if (plan.withVoice) await reserveWav(path('voice'), VOICE_FORMAT, frames);
  const useful = Math.floor(frames / STEM_FORMAT.sampleRate / PART_SECONDS);
  const parts = divide(frames, Math.max(1, Math.min(availableParallelism(), useful)));
  const fractions = parts.map(() => 0);
  const reportPart = (index: number) => (fraction: number) => {
    fractions[index] = fraction;
    report(fractions.reduce((sum, value) => sum + value, 0) / parts.length);
  };
  const [own, ...others] = parts.map((part) => ({ plan, part }));
  const threads = others.map((task) => new Worker(process.argv[1] ?? '', { workerData: task }));
  try {
    await Promise.all([
      own && splitPart(own, reportPart(0)),
      ...threads.map((thread, index) => ended(thread, reportPart(index + 1))),
    ]);
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}

/** Waits until a thread has finished its part. */
export function ended(thread: Worker, report: (fraction: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    thread.on('message', report);
    thread.on('error', reject);
    // A thread may end without an error and without having finished; its part of the stems would be silence.
    thread.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`a thread ended with code ${code}`)),
    );
  });
}

/** The work of a thread. */
export async function splitPartOfThread(): Promise<void> {
  await splitPart(workerData as Task, (fraction) => parentPort?.postMessage(fraction)); // written by `splitInParts`
}

async function splitPart({ plan, part }: Task, report: (fraction: number) => void): Promise<void> {
  const { clicks, segments, weights, directions } = plan;
  const path = (name: keyof typeof WORKER_FILES) => join(plan.folder, WORKER_FILES[name]);
  const mix = await openWav(path('mix'));
  const source = await openWav(path(plan.source));
  const denoised = await openWav(path('denoised'));
  const from = firstFrame(part);
  const vocals = await openWavPart(path('vocals'), STEM_FORMAT, from);
  const background = await openWavPart(path('background'), STEM_FORMAT, from);
  const voice: WavWriter | null = plan.withVoice
    ? await openWavPart(path('voice'), VOICE_FORMAT, from)
    : null;
  const input = { mix, source: withoutClicks(source, clicks), denoised, segments, weights, directions };
  await splitStems(input, { vocals, background, voice }, part, report);
  await Promise.all([mix, source, denoised, vocals, background, voice].map((file) => file?.close()));
}
