/**
 * The recipe of a dub of edited subtitles: the changed cues have one job, whose speech is put into the earlier track. The earlier
 * track is copied before anything is paid.
 */
import { jobFailure, usageFailure } from '../../base/failure.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { describeUnits } from '../../protocol/metering.ts';
import type { JobInput } from '../input.ts';
import type { BatchItem } from '../item.ts';
import { combineJobs, type ItemProvenance, renumberCues } from '../item-provenance.ts';
import type { Decision } from '../plan/decision.ts';
import type { Redub } from '../plan/redub.ts';
import { isJoinedKey } from '../records/item-key.ts';
import { keepTrack, keptTrack } from '../records/kept-dubs.ts';
import { type BatchPlace, recordFolder } from '../records/record-folder.ts';
import { keepDubbedLines } from '../run/dubbed-lines.ts';
import { madeBy, makeResult } from '../run/make-result.ts';
import { partsOfLines } from '../run/parts.ts';
import type { Run } from '../run/run.ts';
import { jobOf, type Recipe, resultsOf, work } from '../run/step.ts';

export function redubRecipe(
  place: BatchPlace,
  item: BatchItem,
  { sha256 }: JobInput & { readonly type: 'lines' },
  redub: Redub,
): Recipe {
  const { lines, source, numbers, places } = redub;
  // Nothing is sent if cues were only removed.
  const parts = partsOfLines(place, item, lines.length === 0 ? [] : [{ lines, offsetMs: 0 }], {
    ...{ source, sha256 },
  });
  const keeping = work('keep', [], async ({ run }) => {
    const records = recordFolder(place);
    await keepDubbedLines(run, item, true);
    const isKept = redub.from === keptTrack(records, item.key);
    return isKept ? redub.from : keepTrack(records, item.key, redub.from);
  });
  const jobs = parts.items.map((part) => jobOf(part, [keeping], { numbers }));
  return (known) => {
    const [result = { jobId: redub.base.jobId, files: [] }] = resultsOf(known, jobs);
    const track = known.value(keeping) ?? redub.from;
    const piece = result.files[0]?.path ?? null;
    return work('patch', [keeping, ...jobs], async ({ run }) => {
      const made = await makeResult(run, item, {
        ...{ ...parts, results: [result], provenance: provenanceOf(run, parts.items, redub) },
        async make(bench) {
          // Where no line stays, there is nothing to sound like.
          const task = { track, piece, places, isCompared: redub.kept.length > 0 };
          const { path, difference } = await run.batch.preparation.patch(task, bench);
          if (difference !== null) throw otherVoiceFailure(item, redub, difference);
          return [{ label: KINDS.dubbing.result.audio.label, path, notes: [] }];
        },
      });
      // The rest is not needed, and it is removed with the next dub.
      await keepDubbedLines(run, item).catch(() => undefined);
      return made;
    });
  };
}

/** Whether a track is gone that was put together here. Its last job has only a piece of it. */
export function isTrackGone(decision: Decision): boolean {
  if (decision.step === 'expired') return isJoinedKey(decision.key);
  return decision.step === 'continue' && 'key' in decision.next && isJoinedKey(decision.next.key);
}

export function trackGoneFailure() {
  return usageFailure(
    'RESULT_GONE',
    'the dub was put together here from several jobs and is no longer there; nothing was sent',
    'Restore the file, or make a new dub, which is charged again, with --fresh.',
  );
}

/** How the whole track was made: the cues that stay as before, the others by the new job. */
function provenanceOf(
  { journal }: Run,
  parts: readonly BatchItem[],
  { base, kept }: Redub,
): ItemProvenance | null {
  const before = journal.provenances.get(base.key);
  const numbers = new Map(kept);
  const stays = before && { ...before, cues: renumberCues(before.cues, (cue) => numbers.get(cue) ?? null) };
  return combineJobs([stays ?? null, ...parts.map(({ key }) => madeBy(journal, key))]);
}

function otherVoiceFailure({ units }: BatchItem, { total }: Redub, difference: string) {
  const cost = units === null ? '' : ` (${describeUnits(units.quantity, units.unit)})`;
  return jobFailure(
    'VOICE_DIFFERS',
    `the new lines do not sound like the earlier dub: ${difference}. The earlier track was not changed`,
    `Dub all lines again with --whole${cost}; after --only, with --only 1-${total}. The paid piece is kept: the same command pays nothing.`,
  );
}
