/** Copies a video without sound into the results: the copy is named and recorded as a result that was put together here. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from '../../base/system-error.ts';
import type { BatchItem } from '../item.ts';
import type { Decision } from '../plan/decision.ts';
import { isCopied } from '../plan/input.ts';
import { digestMaking } from '../plan/item-key.ts';
import type { RunOutcome } from './batch.ts';
import { joinResults, partsFolder } from './join-parts.ts';
import { hashInput } from './known-uploads.ts';
import type { Run } from './run.ts';
import { outcomeOf } from './run-item.ts';

/** Null for an item with a job, and for one that is not due. @throws only internal errors */
export async function runCopied(run: Run, item: BatchItem, decision: Decision): Promise<RunOutcome | null> {
  const { input } = item;
  if (decision.step !== 'new' || input.type !== 'file' || !isCopied(input)) return null;
  let state: RunOutcome['state'];
  try {
    const sha256 = await hashInput(input.path, run.batch.signal);
    const made = digestMaking([sha256]);
    const preparation: Run['batch']['preparation'] = {
      ...run.batch.preparation,
      async join(_task, { folder }) {
        const path = join(folder, 'video');
        await onDisk(path, () => copyFile(input.path, path));
        return [{ label: 'video', path, notes: [] }];
      },
    };
    const whole = { type: 'video', split: null, source: input.path } as const;
    const own = { ...run, batch: { ...run.batch, preparation } };
    const parts = { made, items: [], whole, sha256 };
    const files = await joinResults(own, item, parts, [], partsFolder(run, item, made));
    state = { phase: 'done', jobId: null, files, credits: 0, before: null };
  } catch (error) {
    state = outcomeOf(run, null, error);
  }
  run.tell(item, state);
  return { item, state, job: null };
}
