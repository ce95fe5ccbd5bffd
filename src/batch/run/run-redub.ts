/**
 * Dubs the changed cues of edited subtitles in one job, and puts them into the earlier track. The job is a part of the item in
 * the journal, so that it is resumed by itself; the earlier track is copied before anything is paid.
 */
import { jobFailure, usageFailure } from '../../base/failure.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { describeUnits } from '../../protocol/metering.ts';
import type { BatchItem } from '../item.ts';
import type { Decision } from '../plan/decision.ts';
import { isSplit, type JobInput } from '../plan/input.ts';
import { isJoinedKey } from '../plan/item-key.ts';
import type { Redub } from '../plan/redub.ts';
import { recordFolder } from '../record-folder.ts';
import { keepTrack, keptTrack } from '../records/kept-dubs.ts';
import { combineJobs, type ItemCue, type ItemProvenance } from '../report/provenance.ts';
import type { RunOutcome } from './batch.ts';
import { keepDubbedLines } from './dubbed-lines.ts';
import { joinResults, type PartResult, partsFolder, partsOfLines, type SplitItem } from './join-parts.ts';
import type { Run } from './run.ts';
import { outcomeOf } from './run-item.ts';
import { creditsOf, runPart, unfinishedOf } from './run-parts.ts';

interface RedubRun {
  readonly run: Run;
  readonly item: BatchItem;
  readonly input: JobInput & { readonly type: 'lines' };
  readonly order: number;
  readonly redub: Redub;
  /** Ids of its jobs: none if cues were only removed. */
  readonly jobs: string[];
}

/** Dubs what has changed of an item; null for an item that is dubbed as a whole, or needs no job. */
export async function runRedub(
  run: Run,
  item: BatchItem,
  order: number,
  decision: Decision,
): Promise<RunOutcome | null> {
  const { kind, input } = item;
  if (kind !== 'dubbing' || input.type !== 'lines' || isSplit(input)) return null;
  const jobs: string[] = [];
  let state: RunOutcome['state'];
  try {
    if (isGone(decision)) throw goneFailure();
    if (decision.step !== 'new' || decision.redub === undefined) return null;
    state = await patchTrack({ run, item, input, order, redub: decision.redub, jobs });
  } catch (error) {
    state = outcomeOf(run, jobs[0] ?? null, error);
  }
  run.tell(item, state);
  return { item, state, job: null, partJobs: jobs };
}

/** Whether the track is gone that was put together here. Its last job has only a piece of it. */
function isGone(decision: Decision): boolean {
  if (decision.step === 'expired') return isJoinedKey(decision.key);
  return decision.step === 'continue' && 'key' in decision.next && isJoinedKey(decision.next.key);
}

function goneFailure() {
  return usageFailure(
    'RESULT_GONE',
    'the dub was put together here from several jobs and is no longer there; nothing was sent',
    'Restore the file, or make a new dub, which is charged again, with --fresh.',
  );
}

async function patchTrack(redubRun: RedubRun): Promise<RunOutcome['state']> {
  const { run, item, redub, order, jobs } = redubRun;
  const records = recordFolder(run.batch.delivery);
  const parts = partsOf(redubRun);
  const folder = partsFolder(run, item, parts.made);
  await keepDubbedLines(run, item, true);
  const isKept = redub.from === keptTrack(records, item.key);
  const track = isKept ? redub.from : await keepTrack(records, item.key, redub.from);
  const own = withNumbers(run, redub);
  const outcomes = parts.items.length === 0 ? [] : [await runPart(own, parts, 0, { folder, order })];
  const [outcome] = outcomes;
  jobs.push(...outcomes.flatMap(({ state }) => state.jobId ?? []));
  const unfinished = unfinishedOf(outcomes, jobs[0] ?? null);
  if (unfinished !== null) return unfinished;
  const { files = [], jobId = redub.base.jobId } = outcome?.state.phase === 'done' ? outcome.state : {};
  const results: PartResult[] = [{ jobId: jobId ?? redub.base.jobId, files }];
  const provenance = provenanceOf(run, parts, redub);
  const made = await joinResults(patching(redubRun, track), item, parts, results, folder, provenance);
  // The rest is not needed, and it is removed with the next dub.
  await keepDubbedLines(run, item).catch(() => undefined);
  const credits = creditsOf({ run, parts });
  return { phase: 'done', jobId, files: made, credits, before: null, provenance };
}

/** The job of the changed cues, as the only part of the item; no part if there is nothing to speak. */
function partsOf({ item, input, redub }: RedubRun): SplitItem {
  const { lines, source } = redub;
  const parts = partsOfLines(item, lines.length === 0 ? [] : [{ lines, offsetMs: 0 }], source);
  return { ...parts, sha256: input.sha256 };
}

/** The run, which numbers the cues of a provenance as the subtitles do, without those whose sound is not used. */
function withNumbers(run: Run, { numbers }: Redub): Run {
  const { connection } = run.batch;
  const readProvenance: typeof connection.readProvenance = async (jobId) => {
    const provenance = await connection.readProvenance(jobId);
    if (provenance === null) return null;
    const numberOf = (index: number) => numbers[index - 1] ?? null;
    return { ...provenance, cues: renumber(provenance.cues, numberOf) };
  };
  return { ...run, batch: { ...run.batch, connection: { ...connection, readProvenance } } };
}

function renumber(cues: readonly ItemCue[], numberOf: (index: number) => number | null): ItemCue[] {
  return cues.flatMap((cue) => {
    const numbers = cue.cues.flatMap((index) => numberOf(index) ?? []);
    return numbers.length === 0 ? [] : [{ ...cue, cues: numbers }];
  });
}

/** How the whole track was made: the cues that stay as before, the others by the new job. */
function provenanceOf({ journal }: Run, parts: SplitItem, { base, kept }: Redub): ItemProvenance | null {
  const { intents, provenances } = journal;
  const before = provenances.get(base.key);
  const numbers = new Map(kept);
  const stays = before && { ...before, cues: renumber(before.cues, (index) => numbers.get(index) ?? null) };
  const news = parts.items.map(({ key }) => provenances.get(intents.byItem.get(key)?.at(-1) ?? ''));
  return combineJobs([stays ?? null, ...news.map((each) => each ?? null)]);
}

/** The label of the only file of a dub. */
const LABEL = KINDS.dubbing.result.audio.label;

/** The run, whose parts are joined by putting the piece into the track. */
function patching({ run, item, redub }: RedubRun, track: string): Run {
  const { preparation } = run.batch;
  const { places } = redub;
  const join: typeof preparation.join = async ({ parts }, work) => {
    const patch = { track, piece: parts[0]?.[LABEL] ?? null, places };
    // Where no line stays, there is nothing to sound like.
    const { path, difference } = await preparation.patch(
      { ...patch, isCompared: redub.kept.length > 0 },
      work,
    );
    if (difference !== null) throw otherVoiceFailure(item, redub, difference);
    return [{ label: LABEL, path, notes: [] }];
  };
  return { ...run, batch: { ...run.batch, preparation: { ...preparation, join } } };
}

function otherVoiceFailure({ units }: BatchItem, { total }: Redub, difference: string) {
  const cost = units === null ? '' : ` (${describeUnits(units.quantity, units.unit)})`;
  return jobFailure(
    'VOICE_DIFFERS',
    `the new lines do not sound like the earlier dub: ${difference}. The earlier track was not changed`,
    `Dub all lines again with --whole${cost}; after --only, with --only 1-${total}. The paid piece is kept: the same command pays nothing.`,
  );
}
