/** Creates the engines of each step from `engines.json`, and identifies their versions. */

import { readdir, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import PQueue from 'p-queue';
import packageFile from '../../package.json' with { type: 'json' };
import { inTurn } from '../base/together.ts';
import type { Programs } from '../media/programs/programs.ts';
import type { BackendStep, JobStep } from '../media/work.ts';
import { ENGINE_STEPS } from '../protocol/provenance.ts';
import type { BackendOf } from './backend.ts';
import type { BackendParts } from './backends/parts.ts';
import { expandHome } from './backends/parts.ts';
import { ENGINES } from './catalog.ts';
import type { EngineChoice, StepEngines } from './choose.ts';
import { BUILT_IN, defaultEngines, type EnginesConfig, type EntryOf } from './config.ts';
import { createPocketSphinx, findSpeechModels } from './recognize/pocketsphinx.ts';
import { createBuiltinSeparator } from './separate/builtin.ts';
import { createEspeak } from './speak/espeak.ts';
import { createFlite } from './speak/flite.ts';
import { createApertium } from './translate/apertium.ts';

type Create<S extends BackendStep> = (
  entry: EntryOf<S> | string,
  parts: BackendParts,
) => Promise<BackendOf[S]>;

/** How to create each type of engine. Loaded when used: a run with the built-in engines needs none of the others. */
const CREATE: { readonly [S in BackendStep]: Create<S> } = {
  async recognize(entry, parts) {
    if (typeof entry === 'string') return createPocketSphinx(parts.programs);
    switch (entry.type) {
      case 'openai':
        return (await import('./backends/openai/recognizer.ts')).createOpenAiRecognizer(entry, parts);
      case 'sherpa':
        return (await import('./backends/sherpa/recognize.ts')).createSherpaRecognizer(entry, parts);
      case 'command':
        return (await import('./backends/command/recognize.ts')).createCommandRecognizer(entry, parts);
    }
  },
  async translate(entry, parts) {
    if (typeof entry === 'string') return createApertium(parts.programs);
    switch (entry.type) {
      case 'openai':
        return (await import('./backends/openai/translator.ts')).createOpenAiTranslator(entry, parts);
      case 'libretranslate':
        return (await import('./backends/libretranslate.ts')).createLibreTranslate(entry, parts);
      case 'llama':
        return (await import('./backends/llama/translate.ts')).createLlamaTranslator(entry, parts);
      case 'command':
        return (await import('./backends/command/translate.ts')).createCommandTranslator(entry, parts);
    }
  },
  async speak(entry, parts) {
    if (typeof entry === 'string') {
      const [english] = BUILT_IN.speak;
      return entry === english ? createFlite(parts.programs) : createEspeak(parts.programs);
    }
    switch (entry.type) {
      case 'openai':
        return (await import('./backends/openai/speaker.ts')).createOpenAiSpeaker(entry, parts);
      case 'sherpa':
        return (await import('./backends/sherpa/speak.ts')).createSherpaSpeaker(entry, parts);
      case 'command':
        return (await import('./backends/command/speak.ts')).createCommandSpeaker(entry, parts);
    }
  },
  async separate(entry, parts) {
    if (typeof entry === 'string') return createBuiltinSeparator(parts.programs);
    return (await import('./backends/command/separate.ts')).createCommandSeparator(entry, parts);
  },
  async diarize(entry, parts) {
    if (typeof entry === 'string') throw new TypeError('no built-in engine tells speakers apart');
    return (await import('./backends/sherpa/diarize.ts')).createSherpaDiarizer(entry, parts);
  },
  async mark(entry, parts) {
    if (typeof entry === 'string') throw new TypeError('no built-in engine marks videos');
    return (await import('./backends/command/mark.ts')).createCommandMarker(entry, parts);
  },
};

/**
 * Creates one engine. Starts nothing and connects to nothing.
 * @param entry an entry of `engines.json`, or the name of the built-in engine
 * @throws JobFailure if the entry cannot work as it is
 */
export function createBackend<S extends BackendStep>(
  step: S,
  entry: EntryOf<S> | string,
  parts: BackendParts,
): Promise<BackendOf[S]> {
  return CREATE[step](entry, parts);
}

/** Creates the engines of all steps. A step that the configuration does not name gets the built-in engine. */
export async function createStepEngines(
  config: EnginesConfig | null,
  givenParts: BackendParts,
): Promise<StepEngines> {
  const parts = { ...givenParts, keyNames: keyNamesOf(config) };
  const create = <S extends JobStep>(
    step: S,
    entries: readonly (EntryOf<S> | string)[],
  ): Promise<EngineChoice<BackendOf[S]>[]> =>
    Promise.all(
      entries.map(async (entry) => {
        const made = await createBackend(step, entry, parts);
        const options: CommonOptions = typeof entry === 'string' ? {} : entry;
        const concurrency = options.concurrency ?? made.concurrency;
        const backend = Number.isFinite(concurrency) ? limitCalls(step, { ...made, concurrency }) : made;
        return { backend, fallback: options.fallback !== false };
      }),
    );
  const [recognize, translate, speak, separate] = await Promise.all([
    create('recognize', config?.recognize ?? defaultEngines('recognize')),
    create('translate', config?.translate ?? defaultEngines('translate')),
    create('speak', config?.speak ?? defaultEngines('speak')),
    create('separate', config?.separate ?? defaultEngines('separate')),
  ]);
  return {
    ...{ programs: parts.programs, recognize, translate, speak, separate },
    identify: (step) => identifyEngines(step, config?.[step] ?? defaultEngines(step), parts),
  };
}

/** The variables with keys, which no program of the user needs. */
function keyNamesOf(config: EnginesConfig | null): ReadonlySet<string> {
  const entries = ENGINE_STEPS.flatMap(
    (step): readonly (EntryOf<JobStep> | string)[] => config?.[step] ?? [],
  );
  return new Set(
    entries.flatMap((entry) =>
      typeof entry !== 'string' && 'key' in entry && entry.key !== undefined && 'env' in entry.key
        ? [entry.key.env]
        : [],
    ),
  );
}

/** The options that every entry has. */
type CommonOptions = Partial<Pick<EntryOf<BackendStep>, 'concurrency' | 'fallback'>>;

/** How to limit the calls of each step that take a place. */
const LIMITED: { readonly [S in JobStep]: (backend: BackendOf[S], queue: PQueue) => BackendOf[S] } = {
  recognize: (backend, queue) => ({
    ...backend,
    recognize: (task, work) => inTurn(queue, work.signal, () => backend.recognize(task, work)),
  }),
  translate: (backend, queue) => ({
    ...backend,
    translate: (task, work) => inTurn(queue, work.signal, () => backend.translate(task, work)),
  }),
  speak: (backend, queue) => ({
    ...backend,
    speak: (request, run) => inTurn(queue, run.signal, () => backend.speak(request, run)),
  }),
  separate: (backend, queue) => ({
    ...backend,
    separate: (task, work) => inTurn(queue, work.signal, () => backend.separate(task, work)),
  }),
};

/** Makes calls above the limit wait for their turn. */
function limitCalls<S extends JobStep>(step: S, backend: BackendOf[S]): BackendOf[S] {
  return LIMITED[step](backend, new PQueue({ concurrency: backend.concurrency }));
}

type Entry = EntryOf<BackendStep> | string;
type Parts = Pick<BackendParts, 'programs' | 'env'>;

/** Options of an entry that do not change what the engine returns. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'concurrency',
  'timeout',
  'key',
  'insecure',
  'memoryMib',
]);

/**
 * Returns a text that changes when an engine of the list, or a program or model that it uses on this machine, changes. Of
 * a server only the address and the model are known.
 * @param entries all engines of the step, because the languages of a job decide which one is used
 */
export async function identifyEngines(
  step: BackendStep,
  entries: readonly Entry[],
  parts: Parts,
): Promise<string> {
  const paths = entries.flatMap((entry) =>
    typeof entry === 'string' ? builtInPaths(step, entry, parts.programs) : ownPaths(entry, parts),
  );
  // ffmpeg decodes the sound and converts what engines write. The file of this module changes with each build.
  const shared = [parts.programs.locate('ffmpeg') ?? '', fileURLToPath(import.meta.url)];
  const versions = await Promise.all([...shared, ...paths].map((path) => identifyPath(path, LEVELS)));
  return JSON.stringify([packageFile.version, settingsOf(entries), versions]);
}

/** The same without what only this machine knows: versions of programs and files. */
export function nameEngines(entries: readonly Entry[]): string {
  return JSON.stringify(settingsOf(entries));
}

function settingsOf(entries: readonly Entry[]): readonly unknown[] {
  return entries.map((entry) =>
    typeof entry === 'string'
      ? entry
      : Object.fromEntries(Object.entries(entry).filter(([name]) => !WITHOUT_EFFECT.has(name))),
  );
}

/** The programs and data of an engine that comes with vloc. */
function builtInPaths(step: BackendStep, name: string, programs: Programs): readonly string[] {
  const found = ENGINES.filter((engine) => engine.name === name)
    .flatMap((engine) => engine.programs)
    .flatMap((program) => programs.locate(program) ?? []);
  if (step === 'recognize') {
    const models = findSpeechModels().flatMap((model) => [
      ...[model.acousticModel, model.languageModel, model.dictionary],
    ]);
    return [...found, ...models];
  }
  // The dictionaries of Apertium are packages of their own, beside the folder of its program.
  return step === 'translate' ? [...found, ...found.map((path) => join(dirname(path), DICTIONARIES))] : found;
}

const DICTIONARIES = '../share/apertium';

/** The files of a model, and the program and files that a command names. */
function ownPaths(entry: EntryOf<BackendStep>, { programs, env }: Parts): readonly string[] {
  if ('terms' in entry && entry.terms !== undefined) return [expandHome(entry.terms, env)];
  if (entry.type === 'sherpa') return [expandHome(entry.folder, env)];
  if (entry.type === 'llama') return [expandHome(entry.model, env)];
  if (entry.type !== 'command') return [];
  const [program = '', ...args] = entry.run.map((word) => expandHome(word, env));
  return [programs.locate(program) ?? program, ...args].filter(isAbsolute);
}

/** Levels of folders below a path that are read: models and dictionaries have at most two. */
const LEVELS = 2;

/** Size and time of a file, or of all files in a folder. */
async function identifyPath(path: string, levels: number): Promise<string> {
  const facts = await stat(path).catch(() => null);
  if (facts === null) return `${path} missing`;
  if (!facts.isDirectory()) return `${path} ${facts.size} ${facts.mtimeMs}`;
  if (levels === 0) return `${path} ${facts.mtimeMs}`;
  const names = await readdir(path).catch(() => []);
  const inside = await Promise.all(
    names.toSorted().map((name) => identifyPath(join(path, name), levels - 1)),
  );
  return [path, ...inside].join('\n');
}
