/** The engines of this machine. Each step is loaded when it is first needed. */
import { tmpdir } from 'node:os';
import type { JobKind } from '../protocol/kind-names.ts';
import type { Capabilities, Engines, Products, Tasks, Work } from './engine.ts';
import { asJobFailure } from './failures.ts';
import { createPrograms } from './programs.ts';

interface EngineOptions {
  /** Folders to search for programs, in the form of the variable PATH; default: the PATH of this process. */
  readonly searchPath?: string;
}

/** The engines of this machine. Nothing is started or loaded before the first call. */
export function createEngines(options: EngineOptions = {}): Engines {
  const programs = createPrograms(options.searchPath ?? process.env.PATH ?? '');
  let detected: Promise<Capabilities> | null = null;

  const runner =
    <K extends JobKind>(load: () => Promise<(task: Tasks[K], work: Work) => Promise<Products[K]>>) =>
    async (task: Tasks[K], work: Work): Promise<Products[K]> => {
      const { monotonic } = await import('./run/progress.ts');
      return guard(work.signal, async () => (await load())(task, monotonic(work)));
    };

  return {
    capabilities() {
      detected ??= import('./capabilities.ts').then((module) => module.detectCapabilities(programs));
      return detected;
    },
    async inspect(file, signal) {
      const { inspectVideo } = await import('./media/inspect.ts');
      return guard(signal, () => inspectVideo(programs, file, { signal, folder: tmpdir() }));
    },
    run: {
      audio_separation: runner<'audio_separation'>(async () => {
        const { separateAudio } = await import('./run/short-tasks.ts');
        return (task, work) => separateAudio(programs, task, work);
      }),
      subtitle_recognition: runner<'subtitle_recognition'>(async () => {
        const { recognizeSubtitle } = await import('./run/short-tasks.ts');
        return (task, work) => recognizeSubtitle(programs, task, work);
      }),
      subtitle_translation: runner<'subtitle_translation'>(async () => {
        const { translateSubtitle } = await import('./run/short-tasks.ts');
        return (task, work) => translateSubtitle(programs, task, work);
      }),
      dubbing: runner<'dubbing'>(async () => {
        const { dubSubtitle } = await import('./run/short-tasks.ts');
        return (task, work) => dubSubtitle(programs, task, work);
      }),
      auto_localization: runner<'auto_localization'>(async () => {
        const { localize } = await import('./run/auto-localization.ts');
        return (task, work) => localize(programs, task, work);
      }),
    },
  };
}

/** Turns errors into failures that a job can end with. */
async function guard<T>(signal: AbortSignal, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw asJobFailure(error, signal);
  }
}

export type { Capabilities, Engines, Products, Tasks, Work } from './engine.ts';
