/**
 * node-llama-cpp, which runs GGUF models. It is no dependency of vloc, because it takes 83 MB that most users do not need:
 * it is installed on request, exactly as locked in `runtime-lock.json`.
 */
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { configurationFailure, type Failure } from '../../../base/failure.ts';
import { ChildFailure } from '../../../media/programs/failures.ts';
import type { Programs } from '../../../media/programs/programs.ts';
import type { TypedEntry } from '../../config.ts';
import { type BackendParts, expandHome } from '../parts.ts';
import lock from './runtime-lock.json' with { type: 'json' };

/** Name of the folder, beside the folders of models. */
export const RUNTIME_FOLDER = 'node-llama-cpp';

/** Version that the lock names. */
export const RUNTIME_VERSION = lock.packages['node_modules/node-llama-cpp'].version;

/** Packages with the compiled programs, by platform and processor. */
const PLATFORM_PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': '@node-llama-cpp/linux-x64',
  'linux-arm64': '@node-llama-cpp/linux-arm64',
  'darwin-x64': '@node-llama-cpp/mac-x64',
  'darwin-arm64': '@node-llama-cpp/mac-arm64-metal',
  'win32-x64': '@node-llama-cpp/win-x64',
  'win32-arm64': '@node-llama-cpp/win-arm64',
};

/** Packages with the programs for graphics cards. Without the one above they fail; with both, no driver means the processor. */
const CARD_PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': '@node-llama-cpp/linux-x64-vulkan',
  'win32-x64': '@node-llama-cpp/win-x64-vulkan',
};

const PLATFORM = `${process.platform}-${process.arch}`;

/** The other way to run a GGUF model. */
const USE_SERVER =
  "Or start llama.cpp's `llama-server -m MODEL.gguf` and add it with `vloc engines add translate --type openai --url http://127.0.0.1:8080/v1 --model MODEL`.";

/** The folder of node-llama-cpp for an entry. */
export function locateRuntime(
  { runtime, model }: TypedEntry<'translate', 'llama'>,
  env: BackendParts['env'],
): string {
  return runtime === undefined
    ? join(dirname(dirname(expandHome(model, env))), RUNTIME_FOLDER)
    : expandHome(runtime, env);
}

/** Returns the module to import from a folder, or null if this version is not installed there. */
export async function findLlamaRuntime(folder: string): Promise<string | null> {
  const has = await hasPackage(folder, 'node-llama-cpp');
  return has ? join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js') : null;
}

/** Whether the part for graphics cards is installed beside it. */
export async function hasCardPart(folder: string): Promise<boolean> {
  const name = CARD_PACKAGES[PLATFORM];
  return name !== undefined && (await hasPackage(folder, name));
}

/** Whether a package is there in this version. */
async function hasPackage(folder: string, name: string): Promise<boolean> {
  try {
    const text = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8');
    return (JSON.parse(text) as { version?: unknown }).version === RUNTIME_VERSION; // compared
  } catch {
    return false;
  }
}

interface InstallParts {
  readonly programs: Programs;
  /** Variables for npm, such as proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Whether the part for graphics cards belongs to it. */
  readonly card: boolean;
}

/**
 * Installs node-llama-cpp into a folder, with npm and without its scripts; npm checks each package against the lock. The
 * folder appears when it is complete; another version in it is replaced, and one with other parts. Does nothing if it is installed.
 * @param folder such as `node-llama-cpp` beside the folders of models
 * @throws Failure (`configuration`), or the signal's reason
 */
export async function installLlamaRuntime(folder: string, parts: InstallParts): Promise<void> {
  if ((await findLlamaRuntime(folder)) !== null && (await hasCardPart(folder)) === parts.card) return;
  if (parts.programs.locate('npm') === null) {
    throw runtimeFailure('npm, which installs node-llama-cpp, is not installed', 'Install Node.js with npm.');
  }
  const packages = [platformPackage(), ...(parts.card ? [cardPackage()] : [])];
  const files = lockFor(packages);
  await mkdir(dirname(folder), { recursive: true });
  const staging = await mkdtemp(join(dirname(folder), `.${basename(folder)}-`));
  try {
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(staging, name), JSON.stringify(content));
    }
    await runNpm(staging, parts);
    await rm(folder, { recursive: true, force: true });
    await rename(staging, folder);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** @throws Failure if there is no compiled program for this machine */
function platformPackage(): string {
  const found = PLATFORM_PACKAGES[PLATFORM];
  if (found === undefined) {
    throw runtimeFailure(`node-llama-cpp has no program for ${PLATFORM}`, 'Choose another translator.');
  }
  return found;
}

/** @throws Failure if there is none for this machine */
function cardPackage(): string {
  const found = CARD_PACKAGES[PLATFORM];
  if (found === undefined) {
    throw runtimeFailure(`node-llama-cpp has no part for graphics cards on ${PLATFORM}`, 'Omit --gpu.');
  }
  return found;
}

/** The files of npm with the packages for the platform. All others are optional, so npm leaves them out. */
function lockFor(names: readonly string[]): Readonly<Record<string, object>> {
  const packages: Readonly<Record<string, object>> = lock.packages;
  const needed = names.map((name) => {
    return [`node_modules/${name}`, { ...packages[`node_modules/${name}`], optional: undefined }] as const; // JSON leaves it out
  });
  const root = lock.packages[''];
  const versions = Object.fromEntries(names.map((name) => [name, RUNTIME_VERSION]));
  const project = { ...root, dependencies: { ...root.dependencies, ...versions } };
  return {
    'package.json': project,
    'package-lock.json': {
      ...lock,
      packages: { ...packages, '': project, ...Object.fromEntries(needed) },
    },
  };
}

const NPM = ['ci', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];

async function runNpm(folder: string, { programs, env, signal }: InstallParts): Promise<void> {
  try {
    await programs.run('npm', NPM, { folder, env, signal });
  } catch (error) {
    signal.throwIfAborted();
    const said = error instanceof ChildFailure ? error.lastWords : String(error);
    const line = said.split('\n').find((each) => /npm error (?!code|A complete log)/i.test(each)) ?? said;
    throw runtimeFailure(
      `npm did not install node-llama-cpp: ${line.replace(/^npm error /i, '').slice(0, 300)}`,
      'Check the network and the registry of npm.',
    );
  }
}

function runtimeFailure(message: string, advice: string): Failure {
  return configurationFailure('RUNTIME_NOT_INSTALLED', message, `${advice} ${USE_SERVER}`);
}
