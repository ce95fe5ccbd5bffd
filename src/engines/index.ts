/** The engines of this machine. */
import { tmpdir } from 'node:os';
import type { JobKind } from '../protocol/kind-names.ts';
import { detectCapabilities } from './capabilities.ts';
import type { Capabilities, Engines, Products, Tasks, Work } from './engine.ts';
import { asJobFailure } from './failures.ts';
import { inspectVideo } from './media/inspect.ts';
import { createPrograms, type Programs } from './programs.ts';
import { localize } from './run/auto-localization.ts';
import { monotonic } from './run/progress.ts';
import { dubSubtitle, recognizeSubtitle, separateAudio, translateSubtitle } from './run/short-tasks.ts';

interface EngineOptions {
  /** Folders to search for programs, in the format of the PATH variable. Default: the PATH of this process. */
  readonly searchPath?: string;
}

/** Creates the engines of this machine. Starts nothing before the first call. */
export function createEngines(options: EngineOptions = {}): Engines {
  const programs = createPrograms(options.searchPath ?? process.env.PATH ?? '');
  let detected: Promise<Capabilities> | null = null;

  const runner =
    <K extends JobKind>(run: (programs: Programs, task: Tasks[K], work: Work) => Promise<Products[K]>) =>
    (task: Tasks[K], work: Work): Promise<Products[K]> =>
      guard(work.signal, () => run(programs, task, monotonic(work)));

  return {
    capabilities() {
      detected ??= detectCapabilities(programs);
      return detected;
    },
    inspect: (file, signal) =>
      guard(signal, () => inspectVideo(programs, file, { signal, folder: tmpdir() })),
    run: {
      audio_separation: runner<'audio_separation'>(separateAudio),
      subtitle_recognition: runner<'subtitle_recognition'>(recognizeSubtitle),
      subtitle_translation: runner<'subtitle_translation'>(translateSubtitle),
      dubbing: runner<'dubbing'>(dubSubtitle),
      auto_localization: runner<'auto_localization'>(localize),
    },
  };
}

/** Converts errors to failures that a job can end with. */
async function guard<T>(signal: AbortSignal, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw asJobFailure(error, signal);
  }
}

export type { Capabilities, Engines, Products, Tasks, Work } from './engine.ts';
