/** The engines of this machine. */
import { tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { checkExport } from '../media/export/export.ts';
import { inspectVideo } from '../media/probe/inspect.ts';
import { asJobFailure } from '../media/programs/failures.ts';
import { createPrograms } from '../media/programs/programs.ts';
import type { Work } from '../media/work.ts';
import { keepProgressRising } from '../media/work.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import type { BackendParts } from './backends/parts.ts';
import { detectCapabilities } from './capabilities.ts';
import { closeEngines, type StepEngines } from './choose.ts';
import type { EnginesConfig } from './config.ts';
import { createStepEngines } from './create.ts';
import type { Capabilities, Engines, Products, Tasks } from './engine.ts';
import {
  dubSubtitle,
  localizeVideo,
  recognizeSubtitle,
  separateAudio,
  translateSubtitle,
} from './run/job-kinds.ts';

interface EngineOptions {
  /** Folders to search for programs, in the format of the PATH variable. Default: the PATH of this process. */
  readonly searchPath?: string;
  /** The content of `engines.json`. Default: the built-in engines. */
  readonly config?: EnginesConfig | null;
  /** Variables for the keys of servers and for the user's own programs. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Receives remarks for the user, such as a server that ignores an option. Default: none are shown. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** Creates the engines of this machine. Starts nothing before the first call. */
export function createEngines(options: EngineOptions = {}): Engines {
  const programs = createPrograms(options.searchPath ?? process.env.PATH ?? '');
  const { config = null, env = process.env, warn = () => {} } = options;
  const sleep = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal });
  const parts = { programs, env, warn, sleep };
  let created: Promise<StepEngines> | null = null;
  const load = () => {
    created ??= createStepEngines(config, parts);
    return created;
  };
  let detected: Promise<Capabilities> | null = null;

  const runner =
    <K extends JobKind>(run: (engines: StepEngines, task: Tasks[K], work: Work) => Promise<Products[K]>) =>
    (task: Tasks[K], work: Work): Promise<Products[K]> =>
      guard(work.signal, async () => run(await load(), task, keepProgressRising(work)));

  return {
    capabilities() {
      detected ??= detect(config, parts).then((capabilities) => {
        // A server that does not answer now may answer later.
        if (capabilities.missing.some(({ reason }) => reason !== undefined)) detected = null;
        return capabilities;
      });
      return detected;
    },
    inspect: (file, signal) =>
      guard(signal, () => inspectVideo(programs, file, { signal, folder: tmpdir() })),
    checkExport: (request, signal) =>
      guard(signal, () => checkExport(programs, request, null, { signal, folder: tmpdir() })),
    run: {
      audio_separation: runner<'audio_separation'>(separateAudio),
      subtitle_recognition: runner<'subtitle_recognition'>(recognizeSubtitle),
      subtitle_translation: runner<'subtitle_translation'>(translateSubtitle),
      dubbing: runner<'dubbing'>(dubSubtitle),
      auto_localization: runner<'auto_localization'>(localizeVideo),
    },
    async close() {
      if (created === null) return;
      // Engines that could not be created have nothing to end.
      const engines = await created.catch(() => null);
      if (engines !== null) await closeEngines(engines);
    },
  };
}

/** Asks engines that give up after one try: a user waits for the answer. */
async function detect(config: EnginesConfig | null, parts: BackendParts): Promise<Capabilities> {
  const engines = await createStepEngines(config, { ...parts, tries: 1 });
  try {
    return await detectCapabilities(engines);
  } finally {
    await closeEngines(engines);
  }
}

/** Converts errors to failures that a job can end with. */
async function guard<T>(signal: AbortSignal, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw asJobFailure(error, signal);
  }
}

export type { Work } from '../media/work.ts';
export type { Capabilities, Engines, Products, Tasks } from './engine.ts';
