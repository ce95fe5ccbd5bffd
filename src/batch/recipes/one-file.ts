/**
 * The recipe of a file with all languages of a video: their results are put together, and the sound of the source is added. Also that of
 * the sound of one of them, which is written from its result.
 */
import { jobFailure } from '../../base/failure.ts';
import type { FileInput } from '../input.ts';
import type { BatchItem } from '../item.ts';
import { readGathered } from '../plan/gathered.ts';
import { hashInput } from '../run/known-uploads.ts';
import { makeResult } from '../run/make-result.ts';
import { type Recipe, work } from '../run/step.ts';

export function oneFileRecipe(item: BatchItem, { path }: FileInput): Recipe {
  const gathering = work('gather', [], async ({ run }) => {
    const { journal, batch } = run;
    const { made, videos } = await readGathered(item, journal);
    const [first] = videos;
    if (first === undefined) throw noLanguageFailure();
    const isOneSound = item.fields.mode === 'subtitles_only';
    return makeResult(run, item, {
      ...{ made, sha256: await hashInput(path, batch.signal), items: [], results: [] },
      async make(at) {
        const isAlone = item.sound !== undefined;
        const joined = isAlone ? first.path : await batch.preparation.gather({ videos, isOneSound }, at);
        return [{ label: 'video', path: joined, notes: [] }];
      },
    });
  });
  return () => gathering;
}

function noLanguageFailure() {
  const advice = 'Run the same command again, which makes the languages first.';
  return jobFailure('NO_LANGUAGE', 'no language of it has a result', advice, { retryable: true });
}
