/** Checks of the engines of the embedded service: presence, version, languages, and the ones of `engines.json`. */

import { freemem, tmpdir } from 'node:os';
import { formatBytes } from '../../base/amounts.ts';
import { findCardObstacle, nameDevices, UNLINKED } from '../../engines/backends/llama/card.ts';
import { listCards } from '../../engines/backends/llama/model.ts';
import { findLlamaRuntime, locateRuntime } from '../../engines/backends/llama/runtime.ts';
import { isInstalled } from '../../engines/capabilities.ts';
import { ENGINES, type Engine, installCommand } from '../../engines/catalog.ts';
import { BUILT_IN, type EnginesConfig, type TypedEntry } from '../../engines/config.ts';
import { createEngines } from '../../engines/index.ts';
import type { Model } from '../../engines/models/catalog.ts';
import { inspectModel } from '../../engines/models/store.ts';
import {
  isTooOldFfmpeg,
  NEWER_FFMPEG,
  OLDEST_FFMPEG,
  readFfmpegVersion,
} from '../../media/programs/ffmpeg-version.ts';
import { createPrograms, type Programs } from '../../media/programs/programs.ts';
import type { Context } from '../context/context.ts';
import { locateEngines, readEngines } from '../context/engines.ts';
import { createParts, examineEngine, listUsed, type UsedEngine } from '../engines/engines.ts';
import { findPlace, listModels, locateModels } from '../engines/known-models.ts';
import type { CheckReport, CheckResult, RunCheck } from './findings.ts';

/** Checks every engine. @param isEmbedded false for a remote service, which has its own */
export async function checkEngines(
  context: Context,
  runCheck: RunCheck,
  isEmbedded: boolean,
): Promise<CheckReport[]> {
  const searchPath = context.io.env.PATH ?? '';
  const programs = createPrograms(searchPath);
  const { report, config } = await checkFile(context, runCheck, isEmbedded);
  const used = isEmbedded ? listUsed(config) : [];
  return Promise.all([
    ...report,
    ...ENGINES.map((engine) =>
      runCheck(`engine ${engine.name}`, 'configuration', async (signal) =>
        checkEngine(engine, programs, needOf(engine, used, isEmbedded), signal),
      ),
    ),
    ...used
      .filter(({ entry }) => typeof entry !== 'string')
      .map((each) =>
        runCheck(`${each.step} with ${each.name}`, 'configuration', (signal) =>
          checkConfigured(each, { ...context, signal }),
        ),
      ),
    ...used
      .filter(isLlama)
      .slice(0, 1)
      .map(({ entry }) =>
        runCheck('graphics card', 'configuration', (signal) => checkCard(entry, { ...context, signal })),
      ),
    ...(isEmbedded ? await listInstalled(context) : []).map((model) =>
      runCheck(`model ${model.id}`, 'configuration', () => checkModel(model, context)),
    ),
    runCheck('languages', 'configuration', () => checkLanguages(searchPath, config, isEmbedded, context)),
  ]);
}

/** The check of `engines.json`, if there is one, and its content. A file that cannot be used fails the check alone. */
async function checkFile(
  context: Context,
  runCheck: RunCheck,
  isEmbedded: boolean,
): Promise<{ readonly report: readonly CheckReport[]; readonly config: EnginesConfig | null }> {
  let config: EnginesConfig | null = null;
  if (!isEmbedded) return { report: [], config };
  const warnings: string[] = [];
  const { path, chooser } = locateEngines(context);
  const report = await runCheck('engines file', 'configuration', async () => {
    config = await readEngines(context, (text) => warnings.push(text));
    const [warning] = warnings;
    if (warning !== undefined) return { grade: 'warn', message: warning, facts: { path } };
    const from = chooser === null ? '' : ` (${chooser})`;
    return { grade: 'ok', message: config === null ? 'none; the built-in engines are used' : path + from };
  });
  return { report: [report], config };
}

/** Whether a run needs an engine: `fallback` if others of the configuration come before it, `optional` if others do the same. */
type Need = 'yes' | 'fallback' | 'optional' | 'no' | 'elsewhere';

function needOf({ name, onlyFor }: Engine, used: readonly UsedEngine[], isEmbedded: boolean): Need {
  if (!isEmbedded) return 'elsewhere';
  // The others decode, detect speech and encode, whichever engines are configured.
  if (
    !Object.values(BUILT_IN)
      .flat()
      .some((builtIn) => builtIn === name)
  )
    return 'yes';
  const own = used.find(({ entry }) => entry === name);
  if (own === undefined) return 'no';
  if (onlyFor !== undefined) return 'optional';
  const isBefore = ({ step, position }: UsedEngine) => step === own.step && position < own.position;
  return used.some((each) => isBefore(each) && typeof each.entry !== 'string') ? 'fallback' : 'yes';
}

async function checkEngine(
  engine: Engine,
  programs: Programs,
  need: Need,
  signal: AbortSignal,
): Promise<CheckResult> {
  const steps = engine.steps.join(', ');
  if (!isInstalled(programs, engine)) {
    const fix = installCommand(engine);
    return missing(`not installed; ${engine.purpose} (${steps})`, need, { installed: false }, fix);
  }
  const version = await readVersion(programs, engine, signal);
  const facts = { installed: true, version, steps: engine.steps };
  if (engine.name === 'ffmpeg' && version !== null && isTooOldFfmpeg(version)) {
    const grade = need === 'yes' ? 'fail' : 'warn';
    const message = `${version} is too old; the oldest that works is ${OLDEST_FFMPEG}`;
    return { grade, message, fix: NEWER_FFMPEG, facts };
  }
  return { grade: 'ok', message: `${version ?? 'installed'} (${steps})`, facts };
}

function missing(
  message: string,
  need: Need,
  facts: Readonly<Record<string, unknown>>,
  fix = 'vloc engines install',
): CheckResult {
  switch (need) {
    case 'elsewhere':
      return { grade: 'ok', message: `${message}; not needed for a remote service`, facts };
    case 'optional':
      return { grade: 'ok', message: `${message}; ${fix}`, facts };
    case 'no':
      return { grade: 'ok', message: `${message}; not needed: other engines are configured`, facts };
    case 'fallback':
      return {
        grade: 'warn',
        message: `${message}; needed where other engines support no language`,
        fix,
        facts,
      };
    case 'yes':
      return { grade: 'fail', message, fix, facts };
  }
}

/** An engine of the configuration: the preferred one of a step fails the check, others are a warning. */
async function checkConfigured(used: UsedEngine, context: Context): Promise<CheckResult> {
  const { languages, problem, fix } = await examineEngine(used, context);
  const facts = { step: used.step, position: used.position, languages };
  if (problem !== null) {
    const how = fix ?? 'Try it with `vloc engines test`.';
    return { grade: used.position === 1 ? 'fail' : 'warn', message: problem, fix: how, facts };
  }
  const count = languages.length === 0 ? '' : `; languages: ${languages.length}`;
  return { grade: 'ok', message: `can be reached${count}`, facts };
}

type LlamaEngine = UsedEngine & { readonly entry: TypedEntry<'translate', 'llama'> };

function isLlama(used: UsedEngine): used is LlamaEngine {
  return typeof used.entry !== 'string' && used.entry.type === 'llama';
}

/** Whether translators can run on a graphics card. Without one, that is no fault. */
async function checkCard(entry: LlamaEngine['entry'], context: Context): Promise<CheckResult> {
  const { env } = context.io;
  const folder = locateRuntime(entry, env);
  const obstacle = await findCardObstacle(env, folder);
  if (obstacle !== null) {
    const fix = obstacle === UNLINKED ? 'apt-get install libvulkan1' : 'vloc models install';
    return { grade: 'warn', message: `processor: ${obstacle}`, fix };
  }
  const runtime = await findLlamaRuntime(folder);
  const place = runtime === null ? null : await listCards(runtime, createParts(context), context.signal);
  if (place === null || place.devices.length === 0) {
    return { grade: 'ok', message: 'processor: no graphics card can be used', facts: { devices: [] } };
  }
  const facts = { devices: place.devices, free_bytes: place.freeBytes };
  return { grade: 'ok', message: `${nameDevices(place)}, ${formatBytes(place.freeBytes)} free`, facts };
}

/** The models of `vloc models install` that are there. */
async function listInstalled({ io }: Context): Promise<readonly Model[]> {
  const folder = locateModels(io);
  const models = await listModels(io).catch(() => []);
  const states = await Promise.all(models.map((model) => inspectModel(folder, model)));
  return models.filter((_, at) => states[at]?.state !== 'absent');
}

/** Whether a model is whole and fits the free memory. */
async function checkModel(model: Model, { io }: Context): Promise<CheckResult> {
  const { state, wrong } = await inspectModel(locateModels(io), model);
  const place = await findPlace(model, io);
  const facts = { state, wrong, memory_mib: model.memoryMib, ran_on: place, licence: model.licence.spdx };
  if (state === 'damaged') {
    const message = `damaged: ${wrong.join(', ')}`;
    return { grade: 'fail', message, fix: `vloc models install ${model.id}`, facts };
  }
  const [needed, free] = [model.memoryMib * 1024 ** 2, freemem()];
  const ran = place === null ? '' : `; ran on ${place}`;
  const message = `${state}; needs ${formatBytes(needed)} of memory, ${formatBytes(free)} are free${ran}; ${model.licence.spdx}`;
  if (needed <= free) return { grade: 'ok', message, facts };
  return { grade: 'warn', message, fix: 'End other programs before you use it.', facts };
}

async function readVersion(
  programs: Programs,
  { programs: [program], versionFlag }: Engine,
  signal: AbortSignal,
): Promise<string | null> {
  if (program === undefined || versionFlag === undefined) return null;
  const printed = await programs.run(program, [versionFlag], { signal, folder: tmpdir() }).catch(() => {
    signal.throwIfAborted();
    return '';
  });
  const output = printed.toString('utf8');
  // Another line of ffmpeg has the version of its compiler.
  return readFfmpegVersion(output) ?? /\b\d+\.\d+(?:\.\d+)*\b/.exec(output)?.[0] ?? null;
}

async function checkLanguages(
  searchPath: string,
  config: EnginesConfig | null,
  isEmbedded: boolean,
  { io }: Context,
): Promise<CheckResult> {
  const engines = createEngines({ searchPath, config, env: io.env });
  const { recognize, translate, speak, missing: lacking } = await engines.capabilities();
  await engines.close?.();
  const facts = { recognize, translate, speak: speak.map(({ language }) => language) };
  const pairs = translate.map(({ from, to }) => `${from}-${to}`);
  const message = `recognizes ${list(recognize)}; translates ${list(pairs)}; speaks ${speak.length} languages`;
  if (lacking.length === 0) return { grade: 'ok', message, facts };
  const steps = [...new Set(lacking.map(({ step }) => step))];
  return missing(`${message}; nothing can ${steps.join(', ')}`, isEmbedded ? 'yes' : 'elsewhere', facts);
}

/** More would fill the terminal. */
const SHOWN = 20;

function list(names: readonly string[]): string {
  if (names.length === 0) return 'nothing';
  const more = names.length - SHOWN;
  return `${names.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
