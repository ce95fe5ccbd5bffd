/** Runs steps of a separation on several parts at the same time: in this thread, and in others that keep their code loaded. */
import { parentPort, Worker } from 'node:worker_threads';
import type { DenoisedPart } from './denoise.ts';
import { denoisePart, splitPart } from './parts.ts';

/** What each step returns. */
interface Results {
  readonly denoise: DenoisedPart;
  readonly split: undefined;
}
type Step = keyof Results;

const STEPS = { denoise: denoisePart, split: splitPart };
type Input<S extends Step> = Parameters<(typeof STEPS)[S]>[0];
type Report = (fraction: number) => void;

/** What a thread is asked to do. Inputs and results are copied between threads. */
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
    const tell = (answer: Answer) => parentPort?.postMessage(answer);
    tell({ type: 'done', result: await perform(call, (fraction) => tell({ type: 'progress', fraction })) });
  });
}

function perform({ step, input }: Call, report: Report): Promise<unknown> {
  const run = STEPS[step] as (input: object, report: Report) => Promise<unknown>; // `run` gives each step its own input
  return run(input, report);
}
