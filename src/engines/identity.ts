/** What the results of an engine depend on besides its input: its settings, and the versions of programs and models. */
import { readdir, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageFile from '../../package.json' with { type: 'json' };
import type { Programs } from '../media/programs/programs.ts';
import type { BackendStep } from '../media/work.ts';
import type { BackendParts } from './backends/parts.ts';
import { expandHome } from './backends/user-entry.ts';
import { ENGINES } from './catalog.ts';
import type { EntryOf } from './config.ts';
import { findSpeechModels } from './recognize/model.ts';

type Entry = EntryOf<BackendStep> | string;
type Parts = Pick<BackendParts, 'programs' | 'env'>;

/** Options of an entry that do not change what the engine returns. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['concurrency', 'timeout', 'key', 'insecure']);

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
  const settings = entries.map((entry) =>
    typeof entry === 'string'
      ? entry
      : Object.fromEntries(Object.entries(entry).filter(([name]) => !WITHOUT_EFFECT.has(name))),
  );
  return JSON.stringify([packageFile.version, settings, versions]);
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

/** The folder of a model, and the program and files that a command names. */
function ownPaths(entry: EntryOf<BackendStep>, { programs, env }: Parts): readonly string[] {
  if (entry.type === 'sherpa') return [expandHome(entry.folder, env)];
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
