/**
 * The jobs of all stages as one run: a video sends its next job when its own previous stage has ended, and all jobs share the
 * journal and the limits of the command.
 */

import type { Failure } from '../../base/failure.ts';
import type { BatchEvent, BatchItem, BatchOutcome, StopReason } from '../../batch/item.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import { type DecidedItems, decideItems } from '../../batch/plan/decide-items.ts';
import type { Choices } from '../../batch/plan/decision.ts';
import { describePreparations } from '../../batch/plan/describe-preparations.ts';
import { decisionFailure, refusedOutcomes } from '../../batch/plan/refusal.ts';
import { firstLook } from '../../batch/recipes/stages.ts';
import type { BatchCommand } from '../../batch/records/command-record.ts';
import { createItemFacts } from '../../batch/records/item-facts.ts';
import { createUnusableRecord } from '../../batch/records/unusable-inputs.ts';
import type { RunOptions, Task } from '../../batch/run/batch.ts';
import { type Budget, openBudget } from '../../batch/run/budget.ts';
import { choicesOf } from '../../batch/run/open-batch.ts';
import { doneBefore } from '../../batch/run/outcome.ts';
import { type OpenRun, openRun, runTask } from '../../batch/run-batch.ts';
import { SYSTEM_RUNTIME } from '../../client/runtime.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { Connection } from '../context/connection.ts';
import { openLocalRecords } from '../context/local-records.ts';
import { createPreparation } from '../jobs/preparation.ts';
import { commandRecord } from '../jobs/run-jobs.ts';
import { limitRun, requireKnownPrices } from '../jobs/spending.ts';
import { openMemoryFor } from '../jobs/use-memory.ts';
import { findUnsupported, listKinds, listPendingKinds, type StagePlan } from './stage-plan.ts';
import {
  dubbedSteps,
  failTarget,
  inputFilesOf,
  listUnfinished,
  type StagedRun,
  type TargetState,
} from './staged-run.ts';

export interface StageJobs {
  /**
   * Runs a job that a target needs, unless it is done. Targets that need the same job share it.
   * @throws Failure of the folder or the service; the reason of the signal
   */
  run(item: BatchItem): Promise<BatchOutcome>;
  /** Waits until all jobs have ended; none may follow. @throws Failure if another process has taken over the folder */
  end(): Promise<void>;
  /** The outcomes of all jobs that were needed, also of those that were done before. */
  outcomes(): Promise<readonly BatchOutcome[]>;
  /** What could be made better of the jobs that were done before. */
  notes(): readonly string[];
}

/** The options of the batch, with its limits. @throws Failure (`credits`) if the limits could not hold from the first job on */
async function limitStages(run: StagedRun, connection: Connection): Promise<RunOptions> {
  const { context, plan, runOptions, states, journal } = run;
  const options = await limitRun(listKinds(plan), runOptions, connection, context);
  const steps = states.flatMap((state) => state.steps);
  requireStagePrices(plan, runOptions, openBudget(options, steps, journal));
  return options;
}

/**
 * Checks that --max-credits can hold for all stages, before the first is paid. @param budget with the costs of earlier runs
 * @throws Failure (`credits`) that names the prices to state
 */
export function requireStagePrices(plan: StagePlan, options: RunOptions, budget: Budget): void {
  if (options.maxCredits === null) return;
  const kinds = options.fresh ? listKinds(plan) : listPendingKinds(plan);
  requireKnownPrices(kinds, options.prices ?? {}, budget);
}

export function createStageJobs(run: StagedRun): StageJobs {
  const { context, plan, journal } = run;
  const outcomes = new Map<string, Promise<BatchOutcome>>();
  const finished: PlannedItem[] = [];
  let opening: Promise<OpenRun> | null = null;

  /** Connects, and checks all stages, so that nothing is paid for a target if a later one is not supported. */
  async function open(): Promise<OpenRun> {
    const connection = await run.connection();
    for (const { item, decision } of await findUnsupported(plan, connection.capabilities, context)) {
      const state = run.states.find(({ target }) => target.item.key === item.key);
      if (state !== undefined) await failUnsent(run, state, decisionFailure(decision));
    }
    run.memory = await openMemoryFor('subtitle_translation', run.options, context, {
      ...{ delivery: plan.delivery, connection, writes: true },
    });
    const limited = await limitStages(run, connection);
    return openRun({
      tasks: [],
      itemCount: run.states.length,
      kinds: listPendingKinds(plan),
      counted: run.states.flatMap(({ steps }) => steps),
      journal,
      delivery: plan.delivery,
      connection,
      inputFiles: inputFilesOf(run),
      records: openLocalRecords(connection, context.io.now),
      // The next stage needs the files of this one.
      options: { ...limited, skipDone: false },
      runtime: { ...SYSTEM_RUNTIME, ...context.io.pace?.runtime },
      preparation: createPreparation(context.io),
      terms: plan.terms,
      masksTerms: run.options.maskTerms,
      memory: run.memory,
      command: 'localize',
      preface: [stageRecord(run, goalsOf(run.states.filter(isNeverExported)))],
      listen: (event) => run.view.listener(withoutFiles(event)),
      warn: context.terminal.warn,
      signal: context.signal,
    });
  }

  function isNeverExported({ target, end }: TargetState): boolean {
    return end === null && !plan.stages.finished.has(target.item.key);
  }

  const neededBy = (item: BatchItem) => listUnfinished(run.needs.get(item.key) ?? []);

  async function request(item: BatchItem): Promise<BatchOutcome> {
    // Videos that came first are finished first.
    const order = Math.min(...neededBy(item).map((state) => run.states.indexOf(state)));
    const choices = choicesOf(run.runOptions, plan.delivery, context.io.now(), context.signal);
    const remembering = { ...choices, otherLines: plan.otherLines };
    const { renamed, ...task } = await decideStage(plan, remembering, item);
    const ended = endOf(task);
    if (ended !== null) {
      finished.push({ ...task, paths: null });
      return ended;
    }
    opening ??= open();
    const { run: batch, take } = await opening;
    const { reason } = batch.stopping;
    if (reason !== null) return leftOutcome(item, reason);
    const needed = neededBy(item);
    // Its targets may have failed meanwhile.
    if (needed.length === 0) return leftOutcome(item, 'broken');
    const keys = [...new Set([item.key, ...goalsOf(needed)])];
    const [ready = task] = await take({ tasks: [task], records: [stageRecord(run, keys), ...renamed] });
    return runTask(batch, ready, order);
  }

  return {
    run(item) {
      const outcome = outcomes.get(item.key) ?? request(item);
      outcomes.set(item.key, outcome);
      return outcome;
    },
    async end() {
      await Promise.allSettled(outcomes.values());
      const opened = await opening?.catch(() => null);
      opened?.end();
      if (opened != null) journal.lost.throwIfAborted();
    },
    outcomes: () => Promise.all(outcomes.values()),
    notes: () => describePreparations(finished, dubbedSteps(plan)),
  };
}

/** Decides what a job still needs. */
export async function decideStage(
  { recorded }: Pick<StagePlan, 'recorded'>,
  choices: Choices,
  item: BatchItem,
): Promise<Task & Pick<DecidedItems, 'renamed'>> {
  // Changed subtitles are edits, so their results are replaced. A changed video does not replace subtitles that were edited.
  const replace = choices.replace || KINDS[item.kind].input !== 'video';
  // The next stage needs the files of this one, wherever they are now.
  const own = { ...choices, skipDone: false, replace };
  const { decisions, renamed } = await decideItems([item], recorded, own);
  return { item, decision: decisions[0] ?? { step: 'new', after: null }, renamed };
}

/** The outcome of an item that needs no job; null for one that does. */
function endOf({ item, decision }: Task): BatchOutcome | null {
  if (decision.step === 'done') return { item, state: doneBefore(item, decision) };
  return refusedOutcomes([{ item, decision }])[0] ?? null;
}

/** Keys of the items that the run makes last, so that a target whose other jobs are done is not taken for finished. */
function goalsOf(states: readonly TargetState[]): readonly string[] {
  return states.map(({ recipe }) => firstLook(recipe).goal.key);
}

function leftOutcome(item: BatchItem, because: StopReason): BatchOutcome {
  return { item, state: { phase: 'left', jobId: null, because } };
}

/** Hides the files that stages pass to each other: they are not results. */
function withoutFiles(event: BatchEvent): BatchEvent {
  if (event.type !== 'item' || event.state.phase !== 'done') return event;
  return { ...event, state: { ...event.state, files: [] } };
}

/** The record of the command with some of its items. */
export function stageRecord(
  { context, operands, options }: StagedRun,
  items: readonly string[],
): BatchCommand {
  return commandRecord('auto_localization', context, operands, options, items, { partial: true });
}

/** Ends a target, and records why: no job tells it to later commands. @throws Failure of the journal */
export async function failUnsent(run: StagedRun, state: TargetState, failure: Failure): Promise<void> {
  failTarget(run, state, failure);
  const { item } = state.target;
  const detail = [failure.message, failure.advice ?? []].flat().join('. ');
  await run.journal.add(
    stageRecord(run, [item.key]),
    createItemFacts(item),
    createUnusableRecord(item, detail, run.context.io.now()),
  );
}
