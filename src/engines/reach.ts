/** Looks whether a configured engine can be reached: its server, its model folder, its program, its key. Sends nothing. */
import { stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { errorCode } from '../errors/system-error.ts';
import type { BackendStep } from './backend.ts';
import type { BackendParts } from './backends/parts.ts';
import { isInstalled } from './capabilities.ts';
import { ENGINES } from './catalog.ts';
import type { EntryOf, KeySource } from './config.ts';

/** Null: the engine can be reached. Otherwise why not, and what to do. */
type Obstacle = { readonly message: string; readonly fix: string } | null;

type Parts = Pick<BackendParts, 'programs' | 'env'> & { readonly signal: AbortSignal };

/** Looks at the parts of this machine first, then connects to the server, if there is one. */
export async function findObstacle(
  step: BackendStep,
  entry: EntryOf<BackendStep> | string,
  parts: Parts,
): Promise<Obstacle> {
  if (typeof entry === 'string') return findMissingProgram(step, parts);
  switch (entry.type) {
    case 'sherpa':
      return findMissingFolder(entry.folder, parts);
    case 'command':
      return findMissing(entry.run[0] ?? '', parts);
    default:
      return (
        (entry.key === undefined ? null : findMissingKey(entry.key, parts)) ??
        (await findClosedPort(new URL(entry.url), parts.signal))
      );
  }
}

function findMissingProgram(step: BackendStep, { programs }: Parts): Obstacle {
  const parts = ENGINES.filter((engine) => engine.steps.includes(step));
  const missing = parts.find((engine) => !isInstalled(programs, engine));
  if (missing === undefined) return null;
  return { message: `${missing.name} is not installed`, fix: 'Install it with `vloc engines install`.' };
}

async function findMissingFolder(folder: string, { env }: Parts): Promise<Obstacle> {
  const path = folder.replace(/^~(?=$|[\\/])/, () => env.HOME ?? homedir());
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

/** A name that cannot be resolved. */
const NAMES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'has no address in DNS',
  EAI_AGAIN: 'cannot be looked up: DNS does not answer',
};

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ETIMEDOUT: 'does not answer',
};

async function findClosedPort(url: URL, signal: AbortSignal): Promise<Obstacle> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const socket = connect({ host, port });
  const onAbort = () => socket.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return null;
  } catch (error) {
    const code = errorCode(error);
    const name = signal.aborted ? undefined : NAMES[code];
    if (name !== undefined) return { message: `the host ${host} ${name}`, fix: 'Correct its url.' };
    const reason = signal.aborted ? 'does not answer' : (REASONS[code] ?? code);
    return { message: `${host} port ${port} ${reason}`, fix: 'Start the server, or correct its url.' };
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
  }
}
