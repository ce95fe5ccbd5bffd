/** Downloads models, tries them and writes their entries. */

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { formatBytes } from '../../base/amounts.ts';
import { configurationFailure, diskFailure, type Failure } from '../../base/failure.ts';
import { freeBytes } from '../../base/folder.ts';
import { inTurn, runTogether } from '../../base/together.ts';
import { partOf } from '../../client/download/part-file.ts';
import { lookForCard, UNLINKED } from '../../engines/backends/llama/card.ts';
import {
  findLlamaRuntime,
  hasCardPart,
  installLlamaRuntime,
  RUNTIME_FOLDER,
} from '../../engines/backends/llama/runtime.ts';
import { checkEngines } from '../../engines/config-check.ts';
import { fillEntry, type Model, type ModelFile } from '../../engines/models/catalog.ts';
import { beginModel, finishModel, folderOf, stagingOf } from '../../engines/models/store.ts';
import { createPrograms } from '../../media/programs/programs.ts';
import type { Context } from '../context/context.ts';
import { findPlace } from '../engines/known-models.ts';
import { formatTrial, runTrial } from '../engines/trials.ts';
import { openFileSource } from './fetch-model.ts';
import { addEntries, changeEngines, type ManagedEntry } from './managed-entries.ts';

/** More connections at a time do not make a usual line faster, and the hub limits them. */
const DOWNLOADS = 2;

/** File systems need some for themselves, and trials write sound. */
const ROOM = 1.1;

interface Missing {
  readonly model: Model;
  readonly files: readonly ModelFile[];
}

/**
 * Downloads what is missing of the models. Each one gets its name when it is whole.
 * @param folder of all models, locked by the caller
 * @throws Failure; the reason of the signal. Whole files, and the beginnings of others, stay for the next run
 */
export async function downloadModels(
  models: readonly Model[],
  folder: string,
  given: string | undefined,
  context: Context,
): Promise<void> {
  const source = openFileSource(given, context);
  const progress = await context.terminal.progress();
  try {
    const missing: Missing[] = [];
    for (const model of models) {
      progress.show('models', { phase: `checking ${model.id}`, fraction: null });
      context.signal.throwIfAborted();
      missing.push({ model, files: await beginModel(folder, model) });
    }
    const all = missing.flatMap(({ files }) => files);
    await requireRoom(folder, missing, stagingOf);
    const total = all.reduce((sum, { bytes }) => sum + bytes, 0);
    const received = new Map<ModelFile, number>();
    const show = () => {
      const done = [...received.values()].reduce((sum, bytes) => sum + bytes, 0);
      const detail = `${formatBytes(done)} of ${formatBytes(total)}`;
      progress.show('models', { phase: 'downloading', fraction: done / Math.max(1, total), detail });
    };
    const queue = new PQueue({ concurrency: DOWNLOADS });
    await runTogether(
      context.signal,
      missing.map(({ model, files }) => async (signal: AbortSignal) => {
        const fetchOne = async (file: ModelFile) => {
          const to = join(stagingOf(folder, model), file.path);
          const onBytes = (bytes: number) => {
            received.set(file, bytes);
            show();
          };
          await source.fetch({ model, file, to, signal, onBytes });
          onBytes(file.bytes);
        };
        await runTogether(
          signal,
          files.map((file) => (either: AbortSignal) => inTurn(queue, either, () => fetchOne(file))),
        );
        await finishModel(folder, model);
      }),
    );
  } finally {
    progress.close();
    await source.close();
  }
}

async function requireRoom(
  folder: string,
  missing: readonly Missing[],
  stagingOf: (models: string, model: Model) => string,
): Promise<void> {
  const sizes = await Promise.all(
    missing.flatMap(({ model, files }) =>
      files.map(async ({ path, bytes }) => {
        const part = await stat(partOf(join(stagingOf(folder, model), path))).catch(() => null);
        return Math.max(0, bytes - (part?.size ?? 0));
      }),
    ),
  );
  const needed = Math.ceil(sizes.reduce((sum, bytes) => sum + bytes, 0) * ROOM);
  const free = await freeBytes(folder);
  if (free !== null && needed > free) throw noRoomForModelsFailure(folder, needed, free);
}

function noRoomForModelsFailure(folder: string, needed: number, free: number): Failure {
  return diskFailure(
    'DISK_FULL',
    `the models need ${formatBytes(needed)} more, and ${folder} has ${formatBytes(free)} free; nothing was downloaded`,
    'Free some space, or choose another folder with VLOC_MODELS.',
    { retryable: false },
  );
}

/**
 * Tries each model with the sample of its step, and writes the entries of those that work.
 * @throws Failure (`configuration`) that names the others
 */
export async function useModels(
  models: readonly Model[],
  folder: string,
  runtime: RuntimePlan & {
    /** Models in use that it runs. Their entries stay; on a card, the trial compiles what the driver keeps. */
    readonly changed: readonly Model[];
  },
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const working: ManagedEntry[] = [];
  const failed: string[] = [];
  for (const model of [...models, ...runtime.changed]) {
    const managed = makeEntry(model, folder);
    if (model.entry.type === 'llama') await installRuntime(folder, runtime, context);
    terminal.note(`Trying ${model.id} with a short sample …`);
    const row = await runTrial({ ...managed, position: 1, name: model.id }, context);
    // The sample is clear speech: a model that gets no word of it right does not work here.
    const isWrong = (row.word_error_rate ?? 0) >= 1;
    if (row.result === 'failed' || isWrong) {
      failed.push(
        `${model.id}: ${row.problem ?? `all words of the sample are wrong: ${JSON.stringify(row.output)}`}`,
      );
      continue;
    }
    if (models.includes(model)) working.push(managed);
    const place = await findPlace(model, context.io);
    const works = `It works: ${formatTrial(row)}${place === null ? '' : `; ran on ${place}`}`;
    terminal.note(row.result === 'skipped' ? `Not tried: ${row.problem}` : works);
  }
  if (working.length > 0) {
    const path = await changeEngines(context, (file) => addEntries(file, working));
    terminal.note(`Saved in ${path}; the embedded service uses them from now on.`);
  }
  if (failed.length > 0) throw trialsFailure(failed);
}

/** What runs GGUF models: whether the part for graphics cards belongs to it, and whether it is to be installed. */
export interface RuntimePlan {
  readonly card: boolean;
  readonly isDue: boolean;
}

/** Without an option, what is installed stays, and a card brings its part. */
export async function planRuntime(
  folder: string,
  { gpu, noGpu }: { readonly gpu: boolean; readonly noGpu: boolean },
  { io }: Context,
): Promise<RuntimePlan> {
  const runtime = join(folder, RUNTIME_FOLDER);
  const [module, hasPart] = await Promise.all([findLlamaRuntime(runtime), hasCardPart(runtime)]);
  const card = !noGpu && (gpu || hasPart || (await lookForCard(io.env)) === 'found');
  return { card, isDue: module === null || card !== hasPart };
}

/** Installs what runs GGUF models beside them. @throws Failure (`configuration`); the reason of the signal */
async function installRuntime(folder: string, { card, isDue }: RuntimePlan, context: Context): Promise<void> {
  const { io, signal, terminal } = context;
  if (isDue) {
    const size = card ? '83 MB, and 27 MB for the graphics card' : '83 MB';
    terminal.note(`Installing node-llama-cpp with npm, which downloads ${size} …`);
  }
  if (!card && (await lookForCard(io.env)) === 'unlinked') {
    terminal.warn(`${UNLINKED}; install it, then run the same command again`);
  }
  const programs = createPrograms(io.env.PATH ?? '');
  const runtime = join(folder, RUNTIME_FOLDER);
  await installLlamaRuntime(runtime, { programs, env: io.env, signal, card });
}

/** @throws Failure (`configuration`) if this version cannot use the entry */
function makeEntry(model: Model, folder: string): ManagedEntry {
  const entry = fillEntry(model, folderOf(folder, model));
  checkEngines({ [model.step]: [entry] }, `the entry of ${model.id}`);
  return { step: model.step, entry } as ManagedEntry; // just checked
}

function trialsFailure(failed: readonly string[]): Failure {
  return configurationFailure(
    'MODEL_TRIAL_FAILED',
    `failed with the sample, and not used: ${failed.join('; ')}`,
    'The files are whole. Free memory and try again, or remove the model with `vloc models remove`.',
  );
}
