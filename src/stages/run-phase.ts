/** One stage for all videos: an ordinary batch run of its jobs, with the journal of the folder. */

import { resolve } from 'node:path';
import type { BatchEvent, BatchItem } from '../batch/item.ts';
import { decideItems } from '../batch/plan/decide-items.ts';
import type { Decision } from '../batch/plan/decision.ts';
import { createBatchCommand } from '../batch/report/command-record.ts';
import type { RunOutcome, Task } from '../batch/run/batch.ts';
import { doneBefore, explainDecision } from '../batch/run/decided-outcomes.ts';
import { runBatch } from '../batch/run/run-batch.ts';
import { SYSTEM_RUNTIME } from '../client/runtime.ts';
import { openLocalRecords } from '../context/local-records.ts';
import type { LogRecord } from '../journal/record-line.ts';
import { KINDS } from '../protocol/kinds.ts';
import { createBatchView } from '../workflow/batch/view.ts';
import { readHistory } from '../workflow/jobs/read-history.ts';
import { createPreparation } from '../workflow/prepare/preparation.ts';
import { checkStages } from './check-stages.ts';
import { inputFilesOf, type Session } from './session.ts';

/**
 * Runs what is left to do of the items; the outcomes are by their keys.
 * @throws Failure of the folder or the service; the reason of the signal
 */
export async function runPhase(
  session: Session,
  title: string,
  items: readonly BatchItem[],
): Promise<ReadonlyMap<string, RunOutcome>> {
  if (items.length === 0) return new Map();
  const decided = await decide(session, items);
  const over = decided.flatMap((task) => endOf(session, task) ?? []);
  const left = decided.filter((task) => endOf(session, task) === null);
  const ran = left.length === 0 ? [] : await run(session, title, left);
  return new Map([...over, ...ran].map((outcome) => [outcome.item.key, outcome]));
}

async function decide({ context, options }: Session, items: readonly BatchItem[]): Promise<readonly Task[]> {
  const { recorded, choices } = await readHistory(context, options);
  // Edited subtitles are what stages are for. Another video under the same name is perhaps a mistake.
  const ofLines = await decideItems(items, recorded, { ...choices, replace: true });
  const ofVideos = await decideItems(items, recorded, choices);
  return items.map((item, position): Task => {
    const decisions = KINDS[item.kind].input === 'video' ? ofVideos : ofLines;
    return { item, decision: decisions[position] ?? { step: 'new', after: null } };
  });
}

/** The outcome of an item that needs nothing of this run; null for one that does. */
function endOf({ plan }: Session, { item, decision }: Task): RunOutcome | null {
  const { folder } = plan.delivery;
  if (decision.step === 'done') return { item, state: doneBefore(item, decision), job: null };
  return isFinal(decision)
    ? { item, state: { phase: 'failed', jobId: null, failure: explainDecision(decision, folder) }, job: null }
    : null;
}

function isFinal(decision: Decision): decision is Extract<Decision, { step: 'changed' | 'edited' }> {
  return decision.step === 'changed' || decision.step === 'edited';
}

async function run(session: Session, title: string, tasks: readonly Task[]): Promise<readonly RunOutcome[]> {
  const { context, plan, spent } = session;
  const { io, signal, terminal } = context;
  const connection = await connectOnce(session);
  terminal.note(title);
  const view = await createBatchView(context, { items: tasks.map(({ item }) => item) });
  const own = new Set(tasks.map(({ item }) => item.key));
  const options = limits(session, own);
  let total = sumOf(spent, (key) => own.has(key));
  try {
    return await runBatch({
      tasks,
      delivery: { folder: resolve(plan.delivery.folder), template: '', isInner: true, existing: 'replace' },
      connection,
      inputFiles: inputFilesOf(session),
      records: openLocalRecords(connection, io.now, options.jobs, terminal.warn),
      options,
      runtime: { ...SYSTEM_RUNTIME, ...io.pace?.runtime },
      preparation: createPreparation(io),
      command: 'localize',
      preface: [commandRecord(session, [...own])],
      listen: (event) => {
        if (event.type === 'credits') total = event.reserved + event.charged;
        view.listener(withoutFiles(event));
      },
      warn: terminal.warn,
      signal,
    });
  } finally {
    view.close();
    // The total of the run counts what earlier runs have paid for the same items.
    for (const key of own) spent.delete(key);
    spent.set(title, total);
  }
}

/** Checked at the first connection: a voice that is missing for the last stage is told before the first is paid. */
async function connectOnce(session: Session) {
  const isFirst = session.connected === null;
  const connection = await session.connection();
  if (isFirst) await checkStages(session.plan, connection.capabilities);
  return connection;
}

/** What is left for this stage of the limits of the whole command. */
function limits({ runOptions, begunMs, context, spent }: Session, own: ReadonlySet<string>) {
  const { maxCredits, maxDurationMs, timeoutMs } = runOptions;
  const elapsedMs = context.io.now() - begunMs;
  const rest = (limit: number | null, used: number) => (limit === null ? null : Math.max(0, limit - used));
  const others = sumOf(spent, (key) => !own.has(key));
  return {
    ...runOptions,
    maxCredits: rest(maxCredits, others),
    maxDurationMs: rest(maxDurationMs, elapsedMs),
    timeoutMs: rest(timeoutMs, elapsedMs),
  };
}

function sumOf(spent: Session['spent'], isWanted: (key: string) => boolean): number {
  return [...spent].reduce((sum, [key, credits]) => sum + (isWanted(key) ? credits : 0), 0);
}

/** What stages hand to each other is no result that a person or a program asked for. */
function withoutFiles(event: BatchEvent): BatchEvent {
  if (event.type !== 'item' || event.state.phase !== 'done') return event;
  return { ...event, state: { ...event.state, files: [] } };
}

/** The record of the command with the items of one stage. */
export function commandRecord({ context, operands, options }: Session, items: readonly string[]): LogRecord {
  const { io, commandLine, service } = context;
  return createBatchCommand({
    at: new Date(io.now()).toISOString(),
    argv: [...commandLine],
    cwd: io.cwd,
    profile: service.profile ?? null,
    kind: 'auto_localization',
    operands: [...operands],
    options,
    partial: true,
    items: [...items],
  });
}
