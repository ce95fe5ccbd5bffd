/** The recipe of a video without sound: it is copied into the results. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from '../../base/system-error.ts';
import type { FileInput } from '../input.ts';
import type { BatchItem } from '../item.ts';
import { digestMaking } from '../records/item-key.ts';
import { hashInput } from '../run/known-uploads.ts';
import { makeResult } from '../run/make-result.ts';
import { type Recipe, work } from '../run/step.ts';

export function copyRecipe(item: BatchItem, { path }: FileInput): Recipe {
  const copying = work('copy', [], async ({ run }) => {
    const sha256 = await hashInput(path, run.batch.signal);
    return makeResult(run, item, {
      ...{ made: digestMaking([sha256]), sha256, items: [], results: [] },
      async make({ folder }) {
        const copy = join(folder, 'video');
        await onDisk(copy, () => copyFile(path, copy));
        return [{ label: 'video', path: copy, notes: [] }];
      },
    });
  });
  return () => copying;
}
