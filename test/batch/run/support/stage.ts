/** A service with small engines, a folder with inputs, and runs of batches against it in this process. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchEvent, BatchItem } from '../../../../src/batch/item.ts';
import { readOwnRecords } from '../../../../src/batch/records/other-journals.ts';
import type { RunOptions, RunOutcome } from '../../../../src/batch/run/batch.ts';
import type { ServiceOptions } from '../../../../src/service/index.ts';
import { type Scene, startScene } from '../../../service/harness/scene.ts';
import { videoOf } from '../../../service/harness/small-engines.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { linesItem, videoItem } from './items.ts';
import type { OwnRun } from './own-run.ts';
import { runInFolder, type UnopenedBatch } from './run-in-folder.ts';
import { unopenedBatch } from './unopened-batch.ts';

interface Ran {
  readonly outcomes: readonly RunOutcome[];
  /** Phases that items ended in, or what else was thrown. */
  readonly phases: readonly string[];
  readonly events: readonly BatchEvent[];
  readonly warnings: readonly string[];
}

interface Changes {
  readonly options?: Partial<RunOptions>;
  readonly batch?: Partial<UnopenedBatch>;
  /** Name of the folder of results; default `out`. */
  readonly out?: string;
}

export interface Stage extends Scene {
  /** Inputs, results and the records of this machine. */
  readonly folder: string;
  readonly out: string;
  /** A run for a process of its own. @param place the folder of its results and records */
  ownRun(work: Partial<OwnRun>, place?: string): OwnRun;
  run(items: readonly BatchItem[], changes?: Changes): Promise<Ran>;
  /** Items of lines that need no upload, all different. */
  lines(count: number): readonly BatchItem[];
  /** A file that the small engines take for a video, as an item for each language. */
  video(name: string, seconds: number, languages?: readonly string[]): Promise<readonly BatchItem[]>;
  /** What the service has of jobs and money. */
  books(): Promise<Books>;
  /** The attempts of the journal, by phase. */
  statesOfAttempts(): Promise<readonly string[]>;
}

interface Books {
  readonly jobs: number;
  readonly charged: number;
  readonly reserved: number;
  readonly uploads: number;
}

export async function startStage(options: Partial<ServiceOptions> = {}): Promise<Stage> {
  const scene = await startScene(options);
  const folder = makeFolder();
  const out = join(folder, 'out');
  return {
    ...scene,
    folder,
    out,
    ownRun: (work, place = folder) => ({
      baseUrl: scene.service.url,
      credentials: scene.credentials,
      stateDir: join(place, 'state'),
      out: join(place, 'out'),
      ...work,
    }),
    lines: (count) => Array.from({ length: count }, (_, index) => linesItem(index)),
    async video(name, seconds, languages = ['es']) {
      const path = join(folder, name);
      await writeFile(path, videoOf(seconds));
      return languages.map((language) => videoItem(path, language));
    },
    run: (items, changes = {}) => runHere(scene, folder, items, changes),
    books: () => readBooks(scene),
    async statesOfAttempts() {
      const { attempts } = await readOwnRecords({ folder: out });
      return [...attempts.byKey.values()].map(({ state }) => state);
    },
  };
}

async function runHere(
  scene: Scene,
  folder: string,
  items: readonly BatchItem[],
  { options, batch, out = 'out' }: Changes,
): Promise<Ran> {
  const events: BatchEvent[] = [];
  const warnings: string[] = [];
  const opened = unopenedBatch({
    baseUrl: scene.service.url,
    credentials: scene.credentials,
    stateDir: join(folder, 'state'),
    out: join(folder, out),
    items,
    options,
  });
  try {
    const outcomes = await runInFolder({
      ...opened,
      listen: (event) => events.push(event),
      warn: (text) => warnings.push(text),
      ...batch,
    });
    return { outcomes, phases: outcomes.map(({ state }) => state.phase), events, warnings };
  } finally {
    await opened.connection.client.close();
  }
}

const KIND_PATHS = ['subtitle-translations', 'auto-localizations', 'audio-separations'];

async function readBooks({ caller }: Scene): Promise<Books> {
  let jobs = 0;
  for (const path of KIND_PATHS) jobs += (await readAll(caller, `/v1/${path}`)).length;
  const lines = await readAll(caller, '/v1/credit-transactions');
  const { json: balance } = await caller.get('/v1/credits');
  const uploads = (await readAll(caller, '/v1/uploads')).length;
  return { jobs, charged: lines.length, reserved: balance.reserved_credits, uploads };
}

async function readAll(caller: Scene['caller'], path: string): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  let cursor = '';
  do {
    const { json } = await caller.get(`${path}?${cursor}limit=50`);
    all.push(...json.data);
    cursor = json.next_cursor === null ? '' : `cursor=${encodeURIComponent(json.next_cursor)}&`;
  } while (cursor !== '');
  return all;
}
