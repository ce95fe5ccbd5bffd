/**
 * Runs an item that is too long for one job: its parts run concurrently, each with its own intent in the journal, and their
 * results are joined.
 */

import { Failure, jobFailure } from '../../base/failure.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { BatchItem } from '../item.ts';
import { decideItems } from '../plan/decide-items.ts';
import type { Decision } from '../plan/decision.ts';
import { isSplit } from '../plan/input.ts';
import { combineParts, type ItemProvenance } from '../report/provenance.ts';
import type { RunOutcome } from './batch.ts';
import { checkTranslation } from './check-translation.ts';
import {
  joinResults,
  type PartResult,
  partDelivery,
  partsFolder,
  partsOfLines,
  partsOfVideo,
  recordFirstFacts,
  type SplitItem,
} from './join-parts.ts';
import { choicesOf } from './open-batch.ts';
import type { PreparedSource } from './preparations.ts';
import { mayPay } from './rebuild.ts';
import type { Run } from './run.ts';
import { outcomeOf, runItem } from './run-item.ts';
import { sendableOf } from './sources.ts';

/** Runs an item, in parts if necessary. @param order of the item in the batch  @throws only internal errors */
export function runWholeOrParts(
  run: Run,
  item: BatchItem,
  order: number,
  decision: Decision,
): Promise<RunOutcome> {
  const isBegun = decision.step === 'new' || decision.step === 'continue';
  if (!isBegun || !isSplit(item.input)) return runItem(run, item, order, decision);
  const { batch } = run;
  // --fresh replaces what earlier runs made, not parts that this run has started and resumes.
  const fresh = batch.options.fresh && decision.step === 'new';
  return runInParts({ ...run, batch: { ...batch, options: { ...batch.options, fresh } } }, item, order);
}

type FinalState = RunOutcome['state'];

async function runInParts(run: Run, item: BatchItem, order: number): Promise<RunOutcome> {
  const jobs: string[] = [];
  let state: FinalState;
  try {
    state = await runPhases(run, item, order, jobs);
  } catch (error) {
    state = outcomeOf(run, jobs[0] ?? null, error);
  }
  run.tell(item, state);
  return { item, state, job: null, partJobs: jobs };
}

async function runPhases(run: Run, item: BatchItem, order: number, jobs: string[]): Promise<FinalState> {
  const split = await openSplitRun(run, item, order);
  try {
    const outcomes = await runParts(split);
    jobs.push(...outcomes.flatMap(({ state }) => state.jobId ?? []));
    const unfinished = unfinishedOf(outcomes, jobs[0] ?? null);
    if (unfinished !== null) return unfinished;
    const results = outcomes.flatMap(({ state }): PartResult[] =>
      state.phase === 'done' ? [{ jobId: state.jobId ?? '', files: state.files }] : [],
    );
    const files = await joinResults(run, item, split.parts, results, split.folder);
    const credits = creditsOf(split);
    const provenance = provenanceOf(split);
    const done = { phase: 'done', jobId: jobs[0] ?? null, files, credits, before: null, provenance } as const;
    return await checkTranslation(run, item, done);
  } finally {
    split.source?.release();
  }
}

async function runParts(split: SplitRun): Promise<readonly RunOutcome[]> {
  const { run, item, order, parts } = split;
  await recordFirstFacts(run, item, parts.sha256);
  const decisions = await takeUpParts(split, await decideParts(split));
  stopUnaffordable(split, decisions);
  const own = runForParts(split);
  // Fractions keep the parts in order and between the items before and after theirs.
  const outcomes = parts.items.map((part, place) =>
    runItem(own.run, part, order + place / parts.items.length, decisions[place] ?? NEW).then((outcome) => {
      own.noteEnd(part, outcome);
      return outcome;
    }),
  );
  await Promise.allSettled(outcomes);
  return Promise.all(outcomes);
}

/** Starts no part if all of them cost too much, since some parts alone are useless. @throws Stopped */
function stopUnaffordable({ run, item, parts }: SplitRun, decisions: readonly Decision[]): void {
  const due = parts.items.filter((_, place) => decisions[place]?.step === 'new');
  const [first] = due.flatMap(({ units }) => units ?? []);
  if (first === undefined) return;
  const quantity = due.reduce((sum, { units }) => sum + (units?.quantity ?? 0), 0);
  if (run.canAfford(item.kind, { unit: first.unit, quantity })) return;
  run.stopping.stop('max-credits');
  run.stopping.launching.throwIfAborted();
}

/** Decides for each part by its own records. Its key names what it was made from, so changes need no check. */
async function decideParts({ run, parts }: Pick<SplitRun, 'run' | 'parts'>): Promise<readonly Decision[]> {
  const { options, signal, runtime } = run.batch;
  const recorded = { intents: run.journal.intents, facts: new Map() };
  const choices = choicesOf({ ...options, skipDone: false }, { existing: 'replace' }, runtime.now(), signal);
  return (await decideItems(parts.items, recorded, choices)).decisions;
}

/** Decides again after looking for jobs of parts that the journal lacks. */
async function takeUpParts(
  split: Pick<SplitRun, 'run' | 'parts' | 'source'>,
  decisions: readonly Decision[],
): Promise<readonly Decision[]> {
  const { run, parts, source } = split;
  const unpaid = parts.items.filter((part, place) => mayPay(part, decisions[place] ?? NEW));
  // Files of uploaded parts are deleted, but their hashes are known.
  const contentOf = async ({ input, part }: BatchItem) =>
    input.type === 'lines' ? input.sha256 : (source?.files[(part?.number ?? 1) - 1]?.sha256 ?? null);
  return (await run.rebuild.takeUp(unpaid, contentOf)) === 0 ? decisions : decideParts(split);
}

const NEW: Decision = { step: 'new', after: null };

interface SplitRun {
  readonly run: Run;
  readonly item: BatchItem;
  readonly order: number;
  readonly parts: SplitItem;
  /** The prepared video; null for subtitles. */
  readonly source: PreparedSource | null;
  /** Folder of this item's parts and their results. */
  readonly folder: string;
}

/** Cuts the item unless an earlier run has. The caller must release the source. @throws Failure, Stopped */
async function openSplitRun(run: Run, item: BatchItem, order: number): Promise<SplitRun> {
  const { input } = item;
  const folderOf = ({ made }: SplitItem) => partsFolder(run, item, made);
  if (input.type === 'lines') {
    const parts = partsOfLines(item, input.parts ?? [], input.sha256);
    return { run, item, order, parts, source: null, folder: folderOf(parts) };
  }
  if (input.type !== 'file') throw new TypeError(`${input.type} cannot be cut into parts`);
  const source = await run.preparations.open(item, input, order);
  const parts = partsOfVideo(item, input.path, source);
  return { run, item, order, parts, source, folder: folderOf(parts) };
}

/** The run as its parts see it: they upload as cut, deliver into a private folder, and stop when one of them fails. */
function runForParts({ run, parts, source, folder }: SplitRun) {
  const waiting = new Set(parts.items.map(({ key }) => key));
  const state = { hasFailedPart: false };
  const noteSent = (part: BatchItem) => {
    waiting.delete(part.key);
    if (waiting.size === 0) source?.release();
  };
  const noteEnd = (part: BatchItem, outcome: RunOutcome) => {
    if (outcome.state.phase === 'failed') state.hasFailedPart = true;
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
      if (!state.hasFailedPart) return place;
      place.withdraw();
      throw unusablePartFailure();
    },
  };
  // The slot is kept until it is known how the job ended: a failure makes the next part useless.
  const wait: Run['wait'] = (kind, id, { onEnd, onChange, ...options } = {}) =>
    run.wait(kind, id, {
      ...options,
      onChange: (job) => {
        if (job.status === 'failed' || job.status === 'cancelled') state.hasFailedPart = true;
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

/** Code of the failure of a part that was not started because another one failed. */
const WITHOUT_USE = 'PART_WITHOUT_USE';

/** The failure that ends a part before it is paid. */
function unusablePartFailure(): Failure {
  const message = 'another part has failed, so this one would be paid for nothing';
  return jobFailure(WITHOUT_USE, message, undefined, { retryable: true });
}

/** Runs one part by itself into a private folder, from where earlier runs left it. @param order of the item in the batch */
export async function runPart(
  run: Run,
  parts: SplitItem,
  place: number,
  { folder, order }: { readonly folder: string; readonly order: number },
): Promise<RunOutcome> {
  const [part] = parts.items.slice(place);
  if (part === undefined) throw new TypeError('there is no such part');
  const split = { run, parts: { ...parts, items: [part] }, source: null };
  const [decision] = await takeUpParts(split, await decideParts(split));
  const own = { ...run, batch: { ...run.batch, delivery: partDelivery(folder) } };
  return runItem(own, part, order, decision ?? NEW);
}

/** The outcome of the item if not all of its parts are done; null if they are. */
export function unfinishedOf(
  outcomes: readonly RunOutcome[],
  jobId: string | null,
): RunOutcome['state'] | null {
  const failed = outcomes.flatMap(({ item, state }) =>
    state.phase === 'failed' ? [{ item, failure: state.failure, jobId: state.jobId }] : [],
  );
  const cause = failed.find(({ failure }) => failure.facts.code !== WITHOUT_USE) ?? failed[0];
  if (cause !== undefined) {
    const { failure, item } = cause;
    const { number, count, speaker } = item.part ?? {};
    const whose = speaker === undefined ? '' : ` (${speaker ?? 'everyone else'})`;
    const message = `part ${number} of ${count}${whose}: ${failure.message}`;
    const facts = { ...failure.facts, message };
    return { phase: 'failed', jobId: cause.jobId, failure: new Failure(facts, { cause: failure }) };
  }
  const left = outcomes.flatMap(({ state }) => (state.phase === 'left' ? [state.because] : []))[0];
  return left === undefined ? null : { phase: 'left', jobId, because: left };
}

/** The cost of all jobs for the parts; null if the cost of one is unknown. */
export function creditsOf({ run, parts }: Pick<SplitRun, 'run' | 'parts'>): number | null {
  const { intents, bills } = run.journal;
  const charged = parts.items.flatMap(({ key }) => {
    const newest = intents.byItem.get(key)?.at(-1);
    return bills.get(newest ?? '')?.charged_credits ?? [];
  });
  if (charged.length < parts.items.length) return null;
  // Sums of thousandths are exact.
  return charged.reduce((sum, credits) => sum + Math.round(credits * 1000), 0) / 1000;
}

/** How the jobs for the parts made their results, also those of earlier runs. */
export function provenanceOf({ run, parts }: Pick<SplitRun, 'run' | 'parts'>): ItemProvenance | null {
  const { intents, provenances } = run.journal;
  return combineParts(
    parts.items.map(({ key }) => provenances.get(intents.byItem.get(key)?.at(-1) ?? '') ?? null),
  );
}
