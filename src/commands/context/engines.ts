/** The engines of the embedded service, as the file `engines.json` of this run configures them. */
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { configurationFailure, Failure } from '../../base/failure.ts';
import type { EnginesConfig } from '../../engines/config.ts';
import type { EnginesLocation } from '../../engines/config-file.ts';
import type { Engines } from '../../engines/index.ts';
import type { RequestFields } from '../../engines/support.ts';
import { configFolder, readVariable } from '../../profiles/environment.ts';
import { flagOf, SETTINGS } from '../../profiles/settings.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Context, Io } from './context.ts';

const FILE = 'engines.json';

/** Where the file of a run is: --engines, then VLOC_ENGINES, then `engines.json` in the folder of the profiles. */
export function locateEngines({
  io,
  service,
}: {
  readonly io: Pick<Io, 'env' | 'platform' | 'cwd'>;
  readonly service: Context['service'];
}): EnginesLocation {
  const { env, platform, cwd } = io;
  if (service.engines !== undefined) {
    return { path: resolve(cwd, service.engines), chooser: flagOf('engines') };
  }
  const { variable } = SETTINGS.engines;
  const named = readVariable(env, variable);
  if (named !== undefined) return { path: resolve(cwd, named), chooser: variable };
  return { path: join(configFolder(env, platform), FILE), chooser: null };
}

type EnginesContext = Pick<Context, 'io' | 'service'> & {
  readonly terminal: Pick<Context['terminal'], 'warn'>;
};

type Warn = Context['terminal']['warn'];

/** The configured engines; null without a file. @throws Failure (`configuration`) for a file that cannot be used */
export async function readEngines(
  context: EnginesContext,
  warn: Warn = context.terminal.warn,
): Promise<EnginesConfig | null> {
  const { readEnginesFile } = await import('../../engines/config-file.ts');
  const found = await readEnginesFile(locateEngines(context), warn);
  return found?.config ?? null;
}

/**
 * Refuses an ffmpeg that is too old, so that it does not fail only after something was sent or paid.
 * @throws Failure (`configuration`)
 */
export async function requireFfmpeg({ io, signal }: Pick<Context, 'io' | 'signal'>): Promise<void> {
  const [{ createPrograms }, { describeOldFfmpeg, NEWER_FFMPEG }] = await Promise.all([
    import('../../media/programs/programs.ts'),
    import('../../media/programs/ffmpeg-version.ts'),
  ]);
  const problem = await describeOldFfmpeg(createPrograms(io.env.PATH ?? ''), { signal, folder: tmpdir() });
  if (problem === null) return;
  throw configurationFailure(
    'ENGINE_MISSING',
    `${problem}; nothing was sent`,
    `${NEWER_FFMPEG} Check with \`vloc doctor\`.`,
  );
}

/** Creates the engines of a run. @throws Failure (`configuration`) for a file or an engine that cannot be used */
export async function openEngines(context: Context, warn: Warn = context.terminal.warn): Promise<Engines> {
  const [{ createEngines }, config] = await Promise.all([
    import('../../engines/index.ts'),
    readEngines(context, warn),
  ]);
  await requireFfmpeg(context);
  const engines = createEngines({ config, env: context.io.env, warn });
  if (config === null) return engines;
  try {
    // Creates all engines, so that a missing folder or a wrong placeholder ends the run before its first job.
    await engines.capabilities();
  } catch (error) {
    throw error instanceof JobFailure ? unusableEngineFailure(error, locateEngines(context).path) : error;
  }
  return engines;
}

/** A server on the network answers a connection in milliseconds; a person waits for this. */
const REACH_MS = 5_000;

/**
 * Looks before anything is sent for a request whether its configured engines can be reached.
 * @returns a failure (`configuration`) that names the engine and what to do; null if they can
 */
export async function checkReach(
  kind: JobKind,
  fields: RequestFields,
  context: Context,
): Promise<Failure | null> {
  const { io, signal, terminal } = context;
  const location = locateEngines(context);
  // Remarks about the file were made when the engines were created.
  const config = await readEngines(context, () => {});
  if (config === null) return null;
  const [{ findUnreachable }, { createPrograms }] = await Promise.all([
    import('../../engines/reach.ts'),
    import('../../media/programs/programs.ts'),
  ]);
  const obstacle = await findUnreachable(kind, fields, config, {
    programs: createPrograms(io.env.PATH ?? ''),
    env: io.env,
    warn: terminal.warn,
    sleep: (ms, limit) => setTimeout(ms, undefined, { signal: limit }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(io.checkMs ?? REACH_MS)]),
  });
  signal.throwIfAborted();
  if (obstacle === null) return null;
  return configurationFailure(
    'ENGINE_UNREACHABLE',
    `${obstacle.message}; nothing was sent`,
    `${obstacle.advice} The engine is in ${location.path}.`,
  );
}

function unusableEngineFailure(cause: JobFailure, path: string): Failure {
  const facts = {
    category: 'configuration',
    code: 'ENGINES_INVALID',
    message: `an engine of ${path} cannot be used: ${cause.message}`,
    advice: 'Change or remove it, then see: vloc engines list',
  } as const;
  return new Failure(facts, { cause });
}
