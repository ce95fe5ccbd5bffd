/** Runs one stage for all videos: an ordinary batch run of its jobs, with the journal of the folder. */

import { resolve } from 'node:path';
import type { BatchEvent, BatchItem } from '../batch/item.ts';
import { decideItems } from '../batch/plan/decide-items.ts';
import type { Decision } from '../batch/plan/decision.ts';
import type { RunOutcome, Task } from '../batch/run/batch.ts';
import { doneBefore, explainDecision } from '../batch/run/decided-outcomes.ts';
import { runBatch } from '../batch/run/run-batch.ts';
import { priceUnknownFailure } from '../batch/run/stopping.ts';
import { SYSTEM_RUNTIME } from '../client/runtime.ts';
import { openLocalRecords } from '../context/local-records.ts';
import type { LogRecord } from '../journal/record-line.ts';
import { KINDS } from '../protocol/kinds.ts';
import { createBatchView } from '../workflow/batch/view.ts';
import { readHistory } from '../workflow/jobs/read-history.ts';
import { commandRecord, withPrices } from '../workflow/jobs/run-jobs.ts';
import { createPreparation } from '../workflow/prepare/preparation.ts';
import { checkStageSupport } from './stage-plan.ts';
import { costsOf, inputFilesOf, readItems, type StagedRun } from './staged-run.ts';

/**
 * Runs the items that are not done yet.
 * @returns the outcomes of all items, by key
 * @throws Failure of the folder or the service; the reason of the signal
 */
export async function runStage(
  run: StagedRun,
  title: string,
  items: readonly BatchItem[],
): Promise<ReadonlyMap<string, RunOutcome>> {
  if (items.length === 0) return new Map();
  const decided = await decide(run, items);
  const ended = decided.flatMap((task) => endOf(run, task) ?? []);
  const due = decided.filter((task) => endOf(run, task) === null);
  const ran = due.length === 0 ? [] : await runJobs(run, title, due);
  return new Map([...ended, ...ran].map((outcome) => [outcome.item.key, outcome]));
}

async function decide(
  { context, options }: StagedRun,
  items: readonly BatchItem[],
): Promise<readonly Task[]> {
  // The next stage needs the files of this one.
  const { recorded, choices } = await readHistory(context, { ...options, skipDone: false });
  // Changed subtitles are edits, so their results are replaced. A changed video does not replace subtitles that were edited.
  const ofLines = await decideItems(items, recorded, { ...choices, replace: true });
  const ofVideos = await decideItems(items, recorded, choices);
  return items.map((item, position): Task => {
    const decisions = KINDS[item.kind].input === 'video' ? ofVideos : ofLines;
    return { item, decision: decisions[position] ?? { step: 'new', after: null } };
  });
}

/** The outcome of an item that needs no job; null for one that does. */
function endOf({ plan }: StagedRun, { item, decision }: Task): RunOutcome | null {
  const { folder } = plan.delivery;
  if (decision.step === 'done') return { item, state: doneBefore(item, decision), job: null };
  return isFinal(decision)
    ? { item, state: { phase: 'failed', jobId: null, failure: explainDecision(decision, folder) }, job: null }
    : null;
}

function isFinal(decision: Decision): decision is Extract<Decision, { step: 'changed' | 'edited' }> {
  return decision.step === 'changed' || decision.step === 'edited';
}

async function runJobs(
  run: StagedRun,
  title: string,
  tasks: readonly Task[],
): Promise<readonly RunOutcome[]> {
  const { context, plan, spent } = run;
  const { io, signal, terminal } = context;
  const connection = await connectOnce(run);
  terminal.note(title);
  const view = await createBatchView(context, { items: tasks.map(({ item }) => item) });
  const own = new Set(tasks.map(({ item }) => item.key));
  const options = withPrices(limits(run, own), connection);
  let total = sumOf(spent, (key) => own.has(key));
  try {
    return await runBatch({
      tasks,
      delivery: {
        folder: resolve(plan.delivery.folder),
        shard: plan.delivery.shard,
        template: '',
        isInner: true,
        existing: 'replace',
      },
      connection,
      inputFiles: inputFilesOf(run),
      records: openLocalRecords(connection, io.now, options.jobs, terminal.warn),
      options,
      runtime: { ...SYSTEM_RUNTIME, ...io.pace?.runtime },
      preparation: createPreparation(io),
      command: 'localize',
      preface: [stageRecord(run, [...own])],
      listen: (event) => {
        if (event.type === 'credits') total = event.committed ?? null;
        view.listener(withoutFiles(event));
      },
      warn: terminal.warn,
      signal,
    });
  } finally {
    view.close();
    // `total` includes what earlier runs paid for the same items.
    for (const key of own) spent.delete(key);
    spent.set(title, total);
  }
}

/** Connects. The first time, it checks all stages, so that nothing is paid if a later one is not supported. */
async function connectOnce(run: StagedRun) {
  const isFirst = run.connected === null;
  const connection = await run.connection();
  if (!isFirst) return connection;
  await checkStageSupport(run.plan, connection.capabilities);
  if (run.runOptions.fresh) return connection;
  const { prices } = withPrices(run.runOptions, connection);
  const costs = costsOf(await readItems(run.plan.delivery, run.begunMs, prices));
  for (const [key, credits] of costs) run.spent.set(key, credits);
  return connection;
}

/** What this stage may use of the limits of the command. */
function limits({ runOptions, begunMs, context, spent }: StagedRun, own: ReadonlySet<string>) {
  const { maxCredits, maxDurationMs, timeoutMs } = runOptions;
  const elapsedMs = context.io.now() - begunMs;
  const rest = (limit: number | null, used: number) => (limit === null ? null : Math.max(0, limit - used));
  const others = sumOf(spent, (key) => !own.has(key));
  if (maxCredits !== null && others === null) throw priceUnknownFailure();
  return {
    ...runOptions,
    skipDone: false,
    maxCredits: rest(maxCredits, others ?? 0),
    maxDurationMs: rest(maxDurationMs, elapsedMs),
    timeoutMs: rest(timeoutMs, elapsedMs),
  };
}

function sumOf(spent: StagedRun['spent'], isWanted: (key: string) => boolean): number | null {
  const wanted = [...spent].flatMap(([key, credits]) => (isWanted(key) ? [credits] : []));
  return wanted.reduce<number | null>(
    (sum, credits) => (sum === null || credits === null ? null : sum + credits),
    0,
  );
}

/** Hides the files that stages pass to each other: they are not results. */
function withoutFiles(event: BatchEvent): BatchEvent {
  if (event.type !== 'item' || event.state.phase !== 'done') return event;
  return { ...event, state: { ...event.state, files: [] } };
}

/** The record of the command with the items of one stage. */
export function stageRecord({ context, operands, options }: StagedRun, items: readonly string[]): LogRecord {
  return commandRecord({ kind: 'auto_localization', context, operands, options }, items, { partial: true });
}
