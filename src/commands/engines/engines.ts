/** The configured engines as commands list and try them. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import * as v from 'valibot';
import type { BackendOf } from '../../engines/backend.ts';
import type { BackendParts } from '../../engines/backends/parts.ts';
import { ENGINES } from '../../engines/catalog.ts';
import { defaultEngines, type EnginesConfig, type EntryOf } from '../../engines/config.ts';
import { createBackend } from '../../engines/create.ts';
import { findEntries, nameEntry } from '../../engines/entry.ts';
import { findObstacle } from '../../engines/reach.ts';
import { tryBackend } from '../../engines/trial/trial.ts';
import { clipSeconds, writeClip } from '../../media/audio/clip.ts';
import { convertWav, SPEECH_FORMAT } from '../../media/audio/decode-audio.ts';
import { asJobFailure } from '../../media/programs/failures.ts';
import { createPrograms } from '../../media/programs/programs.ts';
import { BACKEND_STEPS, type BackendStep, type Clip, type EngineRun } from '../../media/work.ts';
import { matchLanguage } from '../../protocol/languages.ts';
import { nearestName } from '../../protocol/nearest.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { formatDuration } from '../context/format.ts';
import { describeRecord } from '../context/output-schemas.ts';
import type { RecordForm } from '../context/records.ts';

/** An engine in use as commands print it. */
export const ENGINE = v.object({ step: v.picklist(BACKEND_STEPS), position: v.number(), engine: v.string() });

type EngineRow = v.InferOutput<typeof ENGINE>;

export const ENGINE_RECORD = describeRecord(ENGINE);

type Entry = EntryOf<BackendStep> | string;

/** An engine that a step uses. */
export interface UsedEngine {
  readonly step: BackendStep;
  /** From 1, in order of preference. */
  readonly position: number;
  readonly entry: Entry;
  /** Such as `openai large-v3`. */
  readonly name: string;
}

export const ENGINES_FORM: RecordForm<EngineRow> = {
  plural: 'engines',
  idOf: ({ engine }) => engine,
  columns: [
    { head: 'USED FOR', field: 'step' },
    { head: '#', field: 'position' },
    { head: 'ENGINE', field: 'engine' },
  ],
};

export const ENGINE_FIELDS = ENGINES_FORM.columns.map(({ field }) => field);

export function rowOf({ step, position, name }: UsedEngine): EngineRow {
  return { step, position, engine: name };
}

/** The step that a word names. @throws Failure (`usage`) */
export function parseStep(word: string): BackendStep {
  const step = BACKEND_STEPS.find((each) => each === word);
  if (step !== undefined) return step;
  const meant = nearestName(word, BACKEND_STEPS);
  const hint = meant === null ? `Steps: ${BACKEND_STEPS.join(', ')}.` : `Did you mean ${meant}?`;
  throw invalidCallFailure(word === '' ? 'a step is missing' : `there is no step "${word}"`, hint);
}

/** All engines in use, in the order of the steps. A step that is not configured uses its built-in engine. */
export function listUsed(config: EnginesConfig | null): readonly UsedEngine[] {
  return BACKEND_STEPS.flatMap((step) =>
    (config?.[step] ?? defaultEngines(step)).map((entry: Entry, at) => ({
      step,
      position: at + 1,
      entry,
      name: nameEntry(entry),
    })),
  );
}

/** The engines of a step that a name or position means. @throws Failure (`usage`) if there is none */
export function chooseUsed(
  used: readonly UsedEngine[],
  step: BackendStep,
  given: string,
): readonly UsedEngine[] {
  const ofStep = used.filter((each) => each.step === step);
  const places = findEntries(
    ofStep.map(({ entry }) => entry),
    given,
  );
  if (places.length > 0) return ofStep.filter((_, at) => places.includes(at));
  const names = ofStep.map(({ position, name }) => `${position} ${name}`).join(', ');
  throw invalidCallFailure(`there is no engine "${given}" to ${step}`, `Available: ${names}.`);
}

/** Creates the dependencies of the engine backends. */
export function createParts({
  io,
  terminal,
}: Pick<Context, 'io'> & { readonly terminal: Pick<Context['terminal'], 'warn'> }): BackendParts {
  return {
    programs: createPrograms(io.env.PATH ?? ''),
    env: io.env,
    warn: terminal.warn,
    tries: 1,
    sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
  };
}

/** Works with one engine, which is ended afterwards, in a folder that is removed. */
export async function withEngine<S extends BackendStep, T>(
  step: S,
  entry: Entry,
  { parts, signal }: { readonly parts: BackendParts; readonly signal: AbortSignal },
  work: (backend: BackendOf[S], run: EngineRun) => Promise<T>,
): Promise<T> {
  // A checked file has entries of this step only.
  const backend = await createBackend(step, entry as EntryOf<S> | string, parts);
  const folder = await mkdtemp(join(tmpdir(), 'vloc-engine-'));
  try {
    return await work(backend, { signal, folder });
  } finally {
    await backend.close().finally(() => rm(folder, { recursive: true, force: true }));
  }
}

/** An engine in use, its languages, and whether it can be reached. */
export interface EngineState extends EngineRow {
  /** BCP 47 tags, or pairs such as `en to es`; empty if they are not known or do not matter. */
  readonly languages: readonly string[];
  /** Null: it can be reached. */
  readonly problem: string | null;
  readonly fix: string | null;
}

/** Long enough for a server that lists its models, short enough to wait for. */
const ANSWER_MS = 5_000;

/** Looks whether an engine can be reached, and asks for its languages. */
export async function examineEngine(used: UsedEngine, context: Context): Promise<EngineState> {
  const { step, entry } = used;
  const parts = createParts(context);
  const answerMs = context.io.checkMs ?? ANSWER_MS;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(answerMs)]);
  const state = { ...rowOf(used), languages: [], problem: null, fix: null };
  const obstacle = await findObstacle(step, entry, { ...parts, signal });
  if (obstacle !== null) return { ...state, problem: obstacle.message, fix: obstacle.fix };
  try {
    const languages = await withEngine(step, entry, { parts, signal }, (backend, run) =>
      listLanguages(step, backend, run),
    );
    return { ...state, languages };
  } catch (error) {
    context.signal.throwIfAborted();
    if (signal.aborted) return { ...state, problem: `no answer in ${formatDuration(answerMs)}`, fix: null };
    return { ...state, problem: error instanceof Error ? error.message : String(error), fix: null };
  }
}

const LANGUAGES: {
  readonly [S in BackendStep]: (backend: BackendOf[S], run: EngineRun) => Promise<readonly string[]>;
} = {
  recognize: (backend, run) => backend.languages(run),
  translate: async (backend, run) =>
    (await backend.pairs(run)).map(({ from, to, through }) =>
      through === undefined ? `${from} to ${to}` : `${from} to ${to} through ${through}`,
    ),
  speak: async (backend, run) => (await backend.voices(run)).map(({ language }) => language),
  separate: async () => [],
  diarize: async () => [],
  mark: async () => [],
};

function listLanguages<S extends BackendStep>(
  step: S,
  backend: BackendOf[S],
  run: EngineRun,
): Promise<readonly string[]> {
  return LANGUAGES[step](backend, run);
}

/** Creates and ends an engine, which shows whether its entry can work. @throws JobFailure if it cannot */
export async function createOnce(
  { step, entry }: Pick<UsedEngine, 'step' | 'entry'>,
  context: Context,
): Promise<void> {
  const parts = createParts(context);
  await withEngine(step, entry, { parts, signal: context.signal }, async () => {});
}

/** Seven seconds of speech take a large model on one core a minute, and loading it another. */
const TRIAL_MS = 5 * 60_000;

/** The longest that a trial takes, in ms. */
export function trialLimitMs({ io }: Pick<Context, 'io'>): number {
  return io.trialMs ?? TRIAL_MS;
}

/**
 * Runs the short real sample of its step through an engine.
 * @param recognizers measures more than whether the engine works; these listen to voices
 * @throws Error if it cannot be reached, JobFailure if it fails; the reason of the signal when that is aborted
 */
export async function tryEngine(
  { step, entry }: Pick<UsedEngine, 'step' | 'entry'>,
  context: Context,
  recognizers?: readonly UsedEngine[],
): ReturnType<typeof tryBackend> {
  const parts = createParts(context);
  const { signal, io } = context;
  const soon = AbortSignal.any([signal, AbortSignal.timeout(io.checkMs ?? ANSWER_MS)]);
  const obstacle = await findObstacle(step, entry, { ...parts, signal: soon });
  signal.throwIfAborted();
  // At once: an engine tries a server that refuses connections for a minute.
  if (obstacle !== null) {
    const isOptional = ENGINES.some(({ name, onlyFor }) => name === entry && onlyFor !== undefined);
    if (isOptional) return { skipped: obstacle.message };
    throw new Error(`${obstacle.message}. ${obstacle.fix}`);
  }
  const languages = typeof entry === 'string' ? [] : (entry.languages ?? []);
  const trialMs = trialLimitMs(context);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(trialMs)]);
  try {
    const limited = { ...parts, mostSeconds: trialMs / 1000 };
    return await withEngine(step, entry, { parts: limited, signal: limit }, (backend, run) =>
      tryBackend(step, backend, {
        ...{ ...run, programs: parts.programs, now: io.now, languages },
        ...(recognizers === undefined
          ? {}
          : {
              listen: (clip, language) =>
                listen(clip, language, recognizers, { parts: limited, signal: limit }),
            }),
      }),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted)
      throw new Error(`${nameEntry(entry)} returned no result in ${formatDuration(trialMs)}`);
    throw asJobFailure(error, signal);
  }
}

/** The words that the first recognizer of a language hears; null if none knows it. */
async function listen(
  clip: Clip,
  language: string,
  recognizers: readonly UsedEngine[],
  use: { readonly parts: BackendParts; readonly signal: AbortSignal },
): Promise<string | null> {
  for (const { entry } of recognizers) {
    const heard = await withEngine('recognize', entry, use, async (backend, run) => {
      if (matchLanguage(language, await backend.languages(run)) === null) return null;
      const [spoken, voice] = [join(run.folder, 'spoken.wav'), join(run.folder, 'voice.wav')];
      await writeClip(spoken, clip);
      await convertWav(use.parts.programs, spoken, voice, SPEECH_FORMAT, run);
      const segments = [{ start: 0, end: clipSeconds(clip) }];
      const { words } = await backend.recognize({ voice, segments, language }, { ...run, report: () => {} });
      return words.map(({ text }) => text).join(' ');
    }).catch(() => {
      use.signal.throwIfAborted();
      // It has a row of its own, which says why it fails.
      return null;
    });
    if (heard !== null) return heard;
  }
  return null;
}
