/** The parts of an item, and the run as they see it: they are sent as they were cut, their results lie aside, and they have a common fate. */
import { join } from 'node:path';
import { Failure } from '../../errors/failure.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { BatchItem } from '../item.ts';
import { RECORD_FOLDER } from '../record-folder.ts';
import type { RunOutcome } from './batch.ts';
import { type Parts, partsOfLines, partsOfVideo } from './part-items.ts';
import { partDelivery } from './part-results.ts';
import type { PreparedSource } from './preparations.ts';
import type { Run } from './run.ts';
import { sendableOf } from './sources.ts';

export interface Family {
  readonly run: Run;
  readonly item: BatchItem;
  readonly order: number;
  readonly parts: Parts;
  /** Of a video; null for subtitles. */
  readonly source: PreparedSource | null;
  /** Of this item's parts and their results. */
  readonly folder: string;
}

/** Cuts the item, unless an earlier run has. The caller must release the source. @throws Failure, Stopped */
export async function openFamily(run: Run, item: BatchItem, order: number): Promise<Family> {
  const { input } = item;
  const root = join(run.batch.delivery.folder, RECORD_FOLDER, 'parts');
  const folderOf = ({ made }: Parts) => join(root, `${made}-${item.targetLanguage ?? item.kind}`);
  if (input.type === 'lines') {
    const parts = partsOfLines(item, input.parts ?? [], input.sha256);
    return { run, item, order, parts, source: null, folder: folderOf(parts) };
  }
  if (input.type !== 'file') throw new TypeError(`${input.type} cannot be cut into parts`);
  const source = await run.preparations.open(item, input, order);
  const parts = partsOfVideo(item, source);
  return { run, item, order, parts, source, folder: folderOf(parts) };
}

/** The run for the parts; `noteEnd` is called at the end of each. */
export function runOfFamily({ run, parts, source, folder }: Family) {
  const waiting = new Set(parts.items.map(({ key }) => key));
  const state = { isHopeless: false };
  const noteSent = (part: BatchItem) => {
    waiting.delete(part.key);
    if (waiting.size === 0) source?.release();
  };
  const noteEnd = (part: BatchItem, outcome: RunOutcome) => {
    if (outcome.state.phase === 'failed') state.isHopeless = true;
    noteSent(part);
  };
  const sources: Run['sources'] = {
    ...run.sources,
    async provide(part, order) {
      const provided = await provideFrom(run, source, part, order);
      const use = () => {
        provided.use();
        noteSent(part);
      };
      return { ...provided, use };
    },
  };
  const launcher: Run['launcher'] = {
    ...run.launcher,
    async enter(order, part, units) {
      const place = await run.launcher.enter(order, part, units);
      if (!state.isHopeless) return place;
      await place.withdraw();
      throw withoutUse();
    },
  };
  // A slot is not given back before it is known how the job has ended: the next part may have become useless.
  const wait: Run['wait'] = (kind, id, { onEnd, onChange, ...options } = {}) =>
    run.wait(kind, id, {
      ...options,
      onChange: (job) => {
        if (job.status === 'failed' || job.status === 'cancelled') state.isHopeless = true;
        onChange?.(job);
        if (isTerminal(job.status)) onEnd?.();
      },
    });
  const batch = { ...run.batch, delivery: partDelivery(folder) };
  return { run: { ...run, batch, sources, launcher, wait }, noteEnd };
}

function provideFrom(run: Run, source: PreparedSource | null, part: BatchItem, order: number) {
  const place = (part.part?.number ?? 1) - 1;
  const file = source?.files[place];
  if (source === null || file === undefined) return run.sources.provide(part, order);
  return run.sources.send(part, sendableOf(source, place, file), order);
}

/** Code of the failure of a part that was not begun since another one has failed. */
export const WITHOUT_USE = 'PART_WITHOUT_USE';

/** Ends a part before it is paid. */
function withoutUse(): Failure {
  const message = 'another part has failed, so this one would be paid for nothing';
  return new Failure({ category: 'job', code: WITHOUT_USE, message, retryable: true });
}
