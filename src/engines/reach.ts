/** Looks whether a configured engine can be reached: its server, its model folder, its program, its key. Sends nothing. */

import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import { endpointOf, openChecked } from '../base/checked-connection.ts';
import { explainNetworkError } from '../base/network-error.ts';
import type { BackendStep, EngineRun, JobStep } from '../media/work.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import { matchLanguage } from '../protocol/languages.ts';
import { ENGINE_STEPS } from '../protocol/provenance.ts';
import type { BackendOf } from './backend.ts';
import { type BackendParts, expandHome } from './backends/parts.ts';
import { isInstalled } from './capabilities.ts';
import { ENGINES, installCommand } from './catalog.ts';
import { closeEngines, type EngineChoice } from './choose.ts';
import type { EnginesConfig, EntryOf, KeySource } from './config.ts';
import { createStepEngines } from './create.ts';
import {
  describeUnusable,
  languageOf,
  type RequestFields,
  type RequestObstacle,
  stepsOf,
} from './support.ts';

/** Null: the engine can be reached. Otherwise why not, and what to do. */
type Obstacle = { readonly message: string; readonly fix: string } | null;

type Parts = Pick<BackendParts, 'programs' | 'env'> & { readonly signal: AbortSignal };

/** Looks at the parts of this machine first, then connects to the server, if there is one. */
export async function findObstacle(
  step: BackendStep,
  entry: EntryOf<BackendStep> | string,
  parts: Parts,
): Promise<Obstacle> {
  if (typeof entry === 'string') return findMissingProgram(step, entry, parts);
  switch (entry.type) {
    case 'sherpa':
      return findMissingFolder(entry.folder, parts);
    case 'llama':
      return findMissingModel(entry.model, parts);
    case 'command':
      return findMissing(entry.run[0] ?? '', parts);
    default:
      return (
        (entry.key === undefined ? null : findMissingKey(entry.key, parts)) ??
        (await findClosedPort(new URL(entry.url), parts.signal))
      );
  }
}

function findMissingProgram(step: BackendStep, name: string, { programs }: Parts): Obstacle {
  const parts = ENGINES.filter((engine) => engine.steps.some((each) => each === step));
  const own = parts.filter((engine) => engine.name === name);
  const missing = (own.length > 0 ? own : parts).find((engine) => !isInstalled(programs, engine));
  if (missing === undefined) return null;
  const fix = `Install it with \`${installCommand(missing)}\`.`;
  return { message: `${missing.name} is not installed`, fix };
}

async function findMissingModel(model: string, { env }: Parts): Promise<Obstacle> {
  const path = expandHome(model, env);
  const isThere = (await stat(path).catch(() => null))?.isFile() === true;
  return isThere
    ? null
    : { message: `there is no file ${path}`, fix: 'Download the model, or correct its path.' };
}

async function findMissingFolder(folder: string, { env }: Parts): Promise<Obstacle> {
  const path = expandHome(folder, env);
  const isThere = (await stat(path).catch(() => null))?.isDirectory() === true;
  return isThere
    ? null
    : { message: `there is no folder ${path}`, fix: 'Download the model, or correct its folder.' };
}

async function findMissing(program: string, { programs }: Parts): Promise<Obstacle> {
  const isThere = isAbsolute(program)
    ? (await stat(program).catch(() => null))?.isFile() === true
    : programs.locate(program) !== null;
  return isThere
    ? null
    : { message: `there is no program ${program}`, fix: 'Install it, or write its full path.' };
}

function findMissingKey(key: KeySource, { env, programs }: Parts): Obstacle {
  if ('env' in key) {
    if ((env[key.env] ?? '') !== '') return null;
    return { message: `the variable ${key.env} with its key is not set`, fix: `Set ${key.env}.` };
  }
  const [program = ''] = key.command;
  if (isAbsolute(program) || programs.locate(program) !== null) return null;
  return {
    message: `there is no program ${program}, which prints its key`,
    fix: 'Install it, or write its full path.',
  };
}

async function findClosedPort(url: URL, signal: AbortSignal): Promise<Obstacle> {
  const endpoint = endpointOf(url);
  try {
    (await openChecked(endpoint, 'any', signal)).destroy();
    return null;
  } catch (error) {
    const { what } = explainNetworkError(error);
    const reason = signal.aborted ? 'does not answer' : what;
    const { host, port } = endpoint;
    return { message: `${host} port ${port} ${reason}`, fix: 'Start the server, or correct its url.' };
  }
}

/** Languages of a request, as far as they are known. `from` may be `auto`. */
interface Languages {
  readonly from: string;
  readonly to: string;
}

const SUPPORTS: {
  readonly [S in JobStep]: (backend: BackendOf[S], languages: Languages, run: EngineRun) => Promise<boolean>;
} = {
  recognize: async (backend, { from }, run) =>
    from === 'auto' || matchLanguage(from, await backend.languages(run)) !== null,
  translate: async (backend, { from, to }, run) => {
    if (from !== 'auto') return backend.supports({ from, to }, run);
    const targets = (await backend.pairs(run)).map((pair) => pair.to);
    return matchLanguage(to, targets) !== null;
  },
  speak: (backend, { to }, run) => backend.supports(to, run),
  separate: async () => true,
};

/**
 * Looks whether the configured engines that a request will use can be reached: of each step, the first one that supports
 * its language. Null: all can.
 * @throws JobFailure if an entry cannot work as it is
 */
export async function findUnreachable(
  kind: JobKind,
  fields: RequestFields,
  config: EnginesConfig,
  parts: BackendParts & { readonly signal: AbortSignal },
): Promise<RequestObstacle | null> {
  const needed = stepsOf(kind, fields);
  const languages = {
    from: languageOf(fields.source_language) ?? 'auto',
    to: languageOf(fields.target_language) ?? '',
  };
  const engines = await createStepEngines(config, { ...parts, tries: 1 });
  try {
    for (const step of ENGINE_STEPS) {
      if (!needed.includes(step) || config[step] === undefined) continue;
      const obstacle = await findFirst(step, engines[step], config[step], languages, parts);
      if (obstacle !== null) return obstacle;
    }
    return null;
  } finally {
    await closeEngines(engines);
  }
}

async function findFirst<S extends JobStep>(
  step: S,
  candidates: readonly EngineChoice<BackendOf[S]>[],
  entries: readonly (EntryOf<BackendStep> | string)[],
  languages: Languages,
  parts: Parts,
): Promise<RequestObstacle | null> {
  const run = { signal: parts.signal, folder: tmpdir() };
  for (const [at, { backend }] of candidates.entries()) {
    // A server that cannot be asked for its languages ends the job as well.
    const isUsed = await SUPPORTS[step](backend, languages, run).catch(() => true);
    if (!isUsed) continue;
    const entry = entries[at];
    // Built-in engines were checked with the capabilities.
    if (entry === undefined || typeof entry === 'string') return null;
    const obstacle = await findObstacle(step, entry, parts);
    if (obstacle === null) return null;
    const message = describeUnusable(backend.name, step, obstacle.message);
    return { missing: true, message, advice: obstacle.fix, steps: [] };
  }
  return null;
}
