/** Prepares inputs for upload: once for all languages and, while the files exist, for all runs. */

import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import PQueue from 'p-queue';
import { makeFolder } from '../../base/folder.ts';
import { inTurn, takeTurn } from '../../base/together.ts';
import { isSameFile } from '../deliver/result-file.ts';
import { countParts, type FileInput, isSplit } from '../input.ts';
import type { BatchItem, Doing, ItemState } from '../item.ts';
import type { MadeFile, MadeFiles } from '../preparation.ts';
import { sampleOf, trackOf } from '../records/item-facts.ts';
import { recordFolder } from '../records/record-folder.ts';
import type { Batch } from './batch.ts';
import type { BatchJournal } from './journal.ts';
import { hashInput } from './known-uploads.ts';
import type { Stopping } from './stopping.ts';
import { contentOf } from './uploads.ts';

/** The files made from an input, for one user of them. */
export interface PreparedSource {
  /** Hash of the input, lower-case hex. */
  readonly sha256: string;
  readonly files: readonly MadeFile[];
  /** See `MadeFiles`. */
  readonly split: unknown;
  /** The file at an index, re-created if it is missing. @throws Failure, Stopped */
  ensure(place: number): Promise<MadeFile>;
  /** Ends this use; the last one deletes the files. A second call does nothing. */
  release(): void;
}

export interface Preparations {
  /** @param order of the item in the batch, smaller ones first  @throws Failure, Stopped */
  open(item: BatchItem, input: FileInput, order: number): Promise<PreparedSource>;
}

/** Inputs prepared ahead of their upload: few, since the files are large. `leastRoomAside` counts on it. */
const AHEAD = 2;

/** Preparations at a time: each uses all processors. */
const AT_A_TIME = 1;

interface PreparationParts {
  readonly batch: Batch;
  readonly journal: BatchJournal;
  readonly stopping: Stopping;
  readonly tell: (item: BatchItem, state: ItemState) => void;
}

/** An input that is being prepared, or is ready. */
interface Source {
  readonly input: FileInput;
  readonly order: number;
  /** Their progress is reported. */
  readonly items: Set<BatchItem>;
  users: number;
  readonly opened: Promise<Opened>;
}

interface Opened {
  readonly sha256: string;
  /** Absolute. */
  readonly folder: string;
  readonly endTurn: () => void;
  made: MadeFiles;
  /** True once the files are known to exist. */
  isThere: boolean;
  /** Serializes checks for the files. */
  readonly looks: PQueue;
}

export function createPreparations({ batch, journal, stopping, tell }: PreparationParts): Preparations {
  const sources = new Map<string, Source>();
  const turns = new PQueue({ concurrency: AHEAD });
  const hands = new PQueue({ concurrency: AT_A_TIME });
  const signal = stopping.launching;

  function begin(item: BatchItem, input: FileInput, order: number): Source {
    const items = new Set([item]);
    return { input, order, items, users: 0, opened: openSource(input, order, items) };
  }

  async function openSource(input: FileInput, order: number, items: Source['items']): Promise<Opened> {
    const endTurn = await takeTurn(turns, signal, order);
    try {
      for (const item of items) tell(item, { phase: 'preparing', doing: 'reading', fraction: null });
      const sha256 = await hashInput(input.path, signal);
      const recipe = recipeOf(input);
      const known = journal.prepared.find((each) => each.source === sha256 && each.recipe === recipe);
      const place = isSplit(input) ? 'parts' : 'converted';
      const folder = join(recordFolder(batch.delivery), place, folderName(input, sha256, recipe));
      const files = known?.files.map(({ name, ...file }) => ({ ...file, path: join(folder, SENT, name) }));
      if (known !== undefined && files !== undefined) {
        const made = { files, split: known.split ?? null };
        return { sha256, folder, endTurn, made, isThere: false, looks: new PQueue({ concurrency: 1 }) };
      }
      const made = await make({ input, sha256, folder, order, items, split: null });
      return { sha256, folder, endTurn, made, isThere: true, looks: new PQueue({ concurrency: 1 }) };
    } catch (error) {
      endTurn();
      throw error;
    }
  }

  interface FilesTask extends Pick<Source, 'input' | 'order' | 'items'>, Pick<Opened, 'sha256' | 'folder'> {
    readonly split: unknown;
  }

  /** Makes the files in a temporary folder and renames it, so that named files are always complete. */
  async function make({ input, sha256, folder, order, items, split }: FilesTask): Promise<MadeFiles> {
    const end = await takeTurn(hands, signal, order);
    const making = join(folder, 'making');
    const doing: Doing = isSplit(input) || sampleOf({ input }) !== null ? 'cutting' : 'converting';
    const report = (fraction: number) => {
      for (const item of items) tell(item, { phase: 'preparing', doing, fraction });
    };
    try {
      report(0);
      await rm(folder, { recursive: true, force: true });
      await makeFolder(making, 0o700);
      const result = await batch.preparation.prepare(input, split, { signal, folder: making, report });
      await rename(making, join(folder, SENT));
      const files = result.files.map((file) => ({ ...file, path: join(folder, SENT, basename(file.path)) }));
      await journal.add({
        type: 'prepared',
        source: sha256,
        recipe: recipeOf(input),
        files: files.map(({ path, ...file }) => ({ ...file, name: basename(path) })),
        split: result.split,
      });
      return { files, split: result.split };
    } catch (error) {
      await rm(making, { recursive: true, force: true }).catch(() => undefined);
      throw error;
    } finally {
      end();
    }
  }

  async function ensure(source: Source, opened: Opened, place: number): Promise<MadeFile> {
    const { input, items, order } = source;
    const file = fileAt(opened.made, place);
    if (opened.isThere || (await isSameFile(file.path, file))) return file;
    const { sha256, folder, made } = opened;
    opened.made = await make({ input, sha256, folder, order, items, split: made.split });
    opened.isThere = true;
    return fileAt(opened.made, place);
  }

  function leave(source: Source, opened: Opened | null): void {
    source.users -= 1;
    if (source.users > 0) return;
    sources.delete(contentOf(source.input));
    opened?.endTurn();
    // The next run resumes a stopped one and reuses the files.
    if (opened === null || stopping.reason !== null) return;
    try {
      rmSync(opened.folder, { recursive: true, force: true });
    } catch {
      // Unused files do no harm.
    }
  }

  return {
    async open(item, input, order) {
      const source = sources.get(contentOf(input)) ?? begin(item, input, order);
      sources.set(contentOf(input), source);
      source.items.add(item);
      source.users += 1;
      const opened = await source.opened.catch((error: unknown) => {
        leave(source, null);
        throw error;
      });
      let isOver = false;
      return {
        sha256: opened.sha256,
        files: opened.made.files,
        split: opened.made.split,
        ensure: (place) => inTurn(opened.looks, signal, () => ensure(source, opened, place), place),
        release: () => {
          if (!isOver) leave(source, opened);
          isOver = true;
        },
      };
    },
  };
}

/** The folder of complete files. */
const SENT = 'sent';

/** How files are made from an input. The same recipe makes the same files from the same bytes. */
function recipeOf(input: FileInput): string {
  const { conversion = null } = input.preparation ?? {};
  const sample = sampleOf({ input });
  const made = [conversion, trackOf({ input }), countParts(input)];
  return JSON.stringify(sample === null ? made : [...made, `sample ${sample}`]);
}

/** Copies of a file have folders of their own, because each removes its folder when it is done. */
function folderName({ name }: FileInput, sha256: string, recipe: string): string {
  // 64 bits distinguish contents, and 32 the names of the few copies of one.
  return `${sha256.slice(0, 16)}-${hash('sha256', name).slice(0, 8)}-${recipe.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')}`;
}

function fileAt({ files }: MadeFiles, place: number): MadeFile {
  const file = files[place];
  if (file === undefined) throw new RangeError(`there is no file ${place} among ${files.length}`);
  return file;
}
