/** The entries of `engines.json` that `vloc models` writes and removes; all others are the user's own. */

import {
  defaultEngines,
  ENTRIES,
  type EnginesConfig,
  type EntryOf,
  SCHEMA_ADDRESS,
} from '../../engines/config.ts';
import { readEnginesFile, saveEnginesFile } from '../../engines/config-file.ts';
import type { BackendStep } from '../../media/work.ts';
import type { Context } from '../context/context.ts';
import { locateEngines } from '../context/engines.ts';

const STEPS = Object.keys(ENTRIES) as BackendStep[]; // its keys are the steps

/** An entry, or the name of a built-in engine. */
type Listed = string | EntryOf<BackendStep>;

export interface ManagedEntry {
  readonly step: BackendStep;
  /** With the id of the model in `managed`. */
  readonly entry: EntryOf<BackendStep>;
}

/**
 * Adds entries to their steps, after the user's own and before those of earlier models and built-in engines at the end.
 * Entries of the same models are replaced.
 */
export function addEntries(file: EnginesConfig, added: readonly ManagedEntry[]): EnginesConfig {
  const steps = new Set(added.map(({ step }) => step));
  const lists = [...steps].map((step) => {
    const entries = added.filter((each) => each.step === step).map(({ entry }) => entry);
    const ids = entries.map(managerOf);
    const others = listOf(file, step).filter(
      (entry) => managerOf(entry) === undefined || !ids.includes(managerOf(entry)),
    );
    const models = others.findIndex((entry) => managerOf(entry) !== undefined);
    const end = others.findLastIndex((entry) => typeof entry !== 'string') + 1;
    return [step, others.toSpliced(models < 0 ? end : models, 0, ...entries)] as const;
  });
  return withLists({ $schema: SCHEMA_ADDRESS, ...file }, lists);
}

/** Removes the entries of a model. A step that then has only its built-in engine is omitted. */
export function removeEntries(file: EnginesConfig, id: string): EnginesConfig {
  const lists = STEPS.flatMap((step) => {
    const before = listOf(file, step);
    const after = before.filter((entry) => managerOf(entry) !== id);
    return after.length < before.length ? [[step, after] as const] : [];
  });
  return withLists(file, lists);
}

/** The models that have an entry. */
export function listManaged(file: EnginesConfig): ReadonlySet<string> {
  const ids = STEPS.flatMap((step) => listOf(file, step).map(managerOf));
  return new Set(ids.filter((id) => id !== undefined));
}

function listOf(file: EnginesConfig, step: BackendStep): readonly Listed[] {
  return file[step] ?? defaultEngines(step);
}

function managerOf(entry: Listed): string | undefined {
  return typeof entry === 'string' ? undefined : entry.managed;
}

function withLists(
  file: EnginesConfig,
  lists: readonly (readonly [BackendStep, readonly Listed[]])[],
): EnginesConfig {
  const after: Record<string, unknown> = { ...file };
  for (const [step, list] of lists) {
    if (list.every((entry) => typeof entry === 'string')) delete after[step];
    else after[step] = list;
  }
  return after as EnginesConfig; // entries stay in their steps, and new ones were checked
}

/** Changes the file that the run uses; a missing one is made unless nothing changes. @throws Failure */
export async function changeEngines(
  context: Context,
  change: (file: EnginesConfig) => EnginesConfig,
): Promise<string> {
  const { path } = locateEngines(context);
  const read = await readEnginesFile({ path, chooser: null }, context.terminal.warn);
  const before = read?.written ?? {};
  const after = change(before);
  if (JSON.stringify(after) !== JSON.stringify(before)) await saveEnginesFile(path, after);
  return path;
}
