/** Runs steps of a separation on several parts of a file at the same time: in this thread, and in others that keep their code loaded. */

import { join } from 'node:path';
import { parentPort, Worker } from 'node:worker_threads';
import { STEM_FORMAT } from '../../media/audio/decode-audio.ts';
import { openWav, openWavPart, type WavWriter } from '../../media/audio/wav.ts';
import { type Click, withoutClicks } from './clicks.ts';
import { type DenoisedPart, denoiseSound, firstDenoised } from './denoise.ts';
import { firstFrame, type Part, type StemInput, splitStems } from './stems.ts';
import { WORKER_FILES } from './worker-process.ts';

/** Result of each step. */
interface Results {
  readonly denoise: DenoisedPart;
  readonly split: undefined;
}
type Step = keyof Results;

const STEPS = { denoise: denoisePart, split: splitPart };
type Input<S extends Step> = Parameters<(typeof STEPS)[S]>[0];
type Report = (fraction: number) => void;

/** Request to a thread. Inputs and results are copied between threads. */
interface Call {
  readonly step: Step;
  readonly input: object;
}

type Answer =
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'done'; readonly result: unknown };

export interface Threads {
  /** Runs a step in the next free thread. @param report receives the completed fraction */
  run<S extends Step>(step: S, input: Input<S>, report: Report): Promise<Results[S]>;
  /** With this one. */
  readonly count: number;
  close(): Promise<void>;
}

/** Starts threads of the worker, besides this one. */
export function startThreads(count: number): Threads {
  const others = Array.from({ length: count - 1 }, () => new Worker(process.argv[1] ?? ''));
  // This thread last, because it detects speech at the same time.
  const free = [
    ...others.map((thread) => (call: Call, report: Report) => callThread(thread, call, report)),
    perform,
  ];
  const waiting: ((thread: typeof perform) => void)[] = [];
  return {
    async run<S extends Step>(step: S, input: Input<S>, report: Report) {
      const thread = free.shift() ?? (await new Promise<typeof perform>((resolve) => waiting.push(resolve)));
      try {
        return (await thread({ step, input }, report)) as Results[S]; // from the step of this name
      } finally {
        const next = waiting.shift();
        if (next === undefined) free.push(thread);
        else next(thread);
      }
    },
    count,
    async close() {
      await Promise.all(others.map((thread) => thread.terminate()));
    },
  };
}

/** Lets a thread do something, and waits for it. */
export function callThread(thread: Worker, call: Call, report: Report): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      settle();
    };
    const onMessage = (answer: Answer) => {
      if (answer.type === 'progress') report(answer.fraction);
      else end(() => resolve(answer.result));
    };
    const onError = (error: unknown) => end(() => reject(error));
    // A thread may end without an error and without having finished; its part of the stems would be silence.
    const onExit = (code: number) => end(() => reject(new Error(`a thread ended with code ${code}`)));
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    thread.postMessage(call);
  });
}

/** Does what the main thread asks for. A failure ends the thread, and reaches the main thread as an error. */
export function answerMainThread(): void {
  parentPort?.on('message', async (call: Call) => {
    const sendAnswer = (answer: Answer) => parentPort?.postMessage(answer);
    sendAnswer({
      type: 'done',
      result: await perform(call, (fraction) => sendAnswer({ type: 'progress', fraction })),
    });
  });
}

function perform({ step, input }: Call, report: Report): Promise<unknown> {
  const run = STEPS[step] as (input: object, report: Report) => Promise<unknown>; // `run` gives each step its own input
  return run(input, report);
}

/** The sound of one work folder in which the voice is looked for. */
export interface VoiceSource {
  readonly folder: string;
  readonly source: 'mix' | 'centre';
}

/** Settings shared by all parts of the stems. */
export interface SplitPlan
  extends VoiceSource,
    Pick<StemInput, 'segments' | 'weights' | 'directions' | 'apart'> {
  /** Whether the voice track for recognition is requested. */
  readonly withVoice: boolean;
  readonly clicks: readonly Click[];
}

/** The format of the denoised sound, and of the voice track for recognition. */
export const VOICE_FORMAT = { ...STEM_FORMAT, channels: 1 } as const;

/** Writes a part of the file `denoised`. */
async function denoisePart(
  { folder, source, part }: VoiceSource & { readonly part: Part },
  report: Report,
): Promise<DenoisedPart> {
  const sound = await openWav(join(folder, WORKER_FILES[source]));
  const into = await openWavPart(join(folder, WORKER_FILES.denoised), VOICE_FORMAT, firstDenoised(part));
  const measured = await denoiseSound(sound, into, part, report);
  await Promise.all([sound, into].map((file) => file.close()));
  return measured;
}

/** Writes a part of the stems. */
async function splitPart(
  { plan, part }: { readonly plan: SplitPlan; readonly part: Part },
  report: Report,
): Promise<void> {
  const { clicks, segments, weights, directions, apart } = plan;
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
  const input = {
    mix,
    source: withoutClicks(source, clicks),
    denoised,
    segments,
    weights,
    directions,
    apart,
  };
  await splitStems(input, { vocals, background, voice }, part, report);
  await Promise.all([mix, source, denoised, vocals, background, voice].map((file) => file?.close()));
}
