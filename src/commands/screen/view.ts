/** Progress of a running batch, for people and programs. */
import type { CreditTotals } from '../../batch/bill.ts';
import type {
  BatchEvent,
  BatchItem,
  BatchListener,
  BatchOutcome,
  Doing,
  ItemState,
} from '../../batch/item.ts';
import { CUES_MISSING } from '../../batch/item-provenance.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { Context, Progress } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import { createProvenancePrinter } from './print-provenance.ts';
import { createBatchProgress, type ItemProgress, isActive, stepOf } from './progress.ts';

export interface BatchView {
  readonly listener: BatchListener;
  /** Writes the last line of `--output ndjson`; nothing in the other forms. @param totals default: the credits of the events */
  summarize(outcomes: readonly BatchOutcome[], exitCode: number, totals?: CreditTotals): void;
  /** Removes the progress from the terminal; may be called twice. */
  close(): void;
}

export interface BatchViewOptions {
  readonly items: readonly BatchItem[];
  /** True if items may be added, as in a watched folder. */
  readonly grows?: boolean;
  /** The items that are shown and counted instead of an item that is only a step of them; null for an item itself. */
  readonly wholesOf?: (item: BatchItem) => readonly BatchItem[] | null;
}

/** Up to this number every item has a line of its own. */
const FEW = 3;

/** The caller must `close` it before anything is written to stdout for people. */
export async function createBatchView(
  context: Context,
  { items, grows = false, wholesOf = () => null }: BatchViewOptions,
): Promise<BatchView> {
  const picture = createBatchProgress(items);
  const steps = createBatchProgress([]);
  let credits: CreditTotals | null = null;
  const { terminal, io } = context;
  const isMany = grows || items.length > FEW;
  const look = () => {
    const seen = picture.look(io.now());
    // Future files are unknown, so there is no estimate.
    return grows ? { ...seen, leftMs: null } : seen;
  };
  const progress = await openProgress(context, isMany, look);
  const provenances = createProvenancePrinter(terminal, isMany, io.cwd);
  const write = context.present.event;
  const show = (event: ItemEvent) => {
    const change = picture.add(event);
    if (change === null || isSameEnd(change.before?.state, change.now.state)) return null;
    if (isMany) showOfMany(progress, change.now, event.atMs, io.cwd);
    else showOfFew(progress, change.now, event.atMs, io.cwd);
    return change;
  };
  return {
    listener: (given) => {
      const event = withoutInner(given);
      if (event.type === 'credits') {
        credits = event;
        if (event.isFree !== true) context.spending?.count(event.ofThisRun ?? null);
      }
      if (event.type !== 'item') {
        picture.add(event);
        write(lineOfRun(event));
        if (event.type === 'stop') terminal.warn(event.message);
        return;
      }
      const wholes = wholesOf(event.item);
      const change = wholes === null ? show(event) : steps.add(event);
      if (change === null) return;
      for (const line of linesOfItem(change.before, change.now, event.atMs)) write(line);
      for (const whole of wholes ?? []) {
        const shown = stateOfWhole(event);
        if (shown !== null) show({ ...event, item: whole, state: shown });
      }
      const { item, state } = change.now;
      const provenance = 'provenance' in state ? (state.provenance ?? null) : null;
      if (provenance !== null)
        provenances.add({ label: item.label, kind: item.kind, key: item.key, provenance });
    },
    summarize: (outcomes, exitCode, totals) => {
      write(summaryLine(outcomes, totals ?? credits, exitCode));
    },
    close: () => {
      progress.close();
      provenances.end();
    },
  };
}

/** Hides files that only vloc reads: they are not results. */
function withoutInner(event: BatchEvent): BatchEvent {
  if (event.type !== 'item' || event.state.phase !== 'done' || event.item.isInner !== true) return event;
  return { ...event, state: { ...event.state, files: [] } };
}

type ItemEvent = Extract<BatchEvent, { type: 'item' }>;

/** Whether an item that has ended is reported again. */
function isSameEnd(before: ItemState | undefined, { phase }: ItemState): boolean {
  return before?.phase === phase && (phase === 'done' || phase === 'failed' || phase === 'left');
}

/** The state of an item during one of its steps; null if the step does not change it. */
function stateOfWhole({ item, state }: ItemEvent): ItemState | null {
  switch (state.phase) {
    case 'processing':
      // The service need not name the stage of a job.
      return { ...state, stage: KINDS[item.kind].doing };
    case 'waiting':
    case 'submitting':
    case 'downloading':
    case 'done':
      return null;
    default:
      return state;
  }
}

const NONE: Progress = { show: () => undefined, end: () => undefined, close: () => undefined };

function openProgress(
  { terminal, present, io }: Context,
  isMany: boolean,
  look: Parameters<Context['terminal']['board']>[0],
): Promise<Progress> {
  // Events and a live display would overwrite each other on one terminal; the events contain everything.
  if (present.part === 'events' && io.stdout.isTTY === true) return Promise.resolve(NONE);
  return isMany ? terminal.board(look) : terminal.progress();
}

/** Shows lines for active, failed and finished items only; items done before and unfinished ones are in the totals. */
function showOfMany(
  progress: Progress,
  { item, state, phaseMs }: ItemProgress,
  nowMs: number,
  cwd: string,
): void {
  if (isActive(state)) progress.show(item.label, stepOf(state, nowMs - phaseMs));
  else if (state.phase === 'failed') progress.end(item.label, 'failed', state.failure.message);
  else if (state.phase === 'done' && state.before === null) endDone(progress, item.label, state.files, cwd);
}

function showOfFew(
  progress: Progress,
  { item, state, phaseMs }: ItemProgress,
  nowMs: number,
  cwd: string,
): void {
  const { label } = item;
  switch (state.phase) {
    case 'waiting':
    // Usually too short to be worth a line.
    case 'submitting':
      return;
    case 'ready':
      progress.show(label, { phase: 'queued', fraction: null });
      return;
    case 'done':
      endDone(progress, label, state.files, cwd);
      return;
    case 'failed':
      progress.end(label, 'failed', state.failure.message);
      return;
    case 'left':
      if (state.because === 'detached' && state.jobId !== null)
        progress.end(label, 'done', `${state.jobId} accepted`);
      else progress.end(label, 'stopped', state.jobId === null ? 'not started' : `${state.jobId} continues`);
      return;
    default:
      progress.show(label, stepOf(state, nowMs - phaseMs));
  }
}

function endDone(
  progress: Progress,
  label: string,
  files: readonly { readonly path: string }[],
  cwd: string,
): void {
  progress.end(label, 'done', files.map(({ path }) => showPath(path, cwd)).join(', ') || 'done');
}

type Line = Readonly<Record<string, unknown>>;

/** The line for an event about the run. */
function lineOfRun(event: Exclude<BatchEvent, { type: 'item' }>): Line {
  switch (event.type) {
    case 'uploaded': {
      const { item, uploadId, bytes } = event;
      return { type: 'uploaded', input: item.input.label, upload_id: uploadId, bytes };
    }
    case 'part': {
      const { item, part, of, jobId } = event;
      return {
        type: 'part',
        input: item.input.label,
        target_language: item.targetLanguage,
        part,
        of,
        id: jobId,
      };
    }
    case 'window':
      return { type: 'window', size: event.size, in_flight: event.inFlight };
    case 'credits':
      return { type: 'credits', reserved: event.reserved, charged: event.charged, unknown: event.unknown };
    case 'stop':
      return { type: 'stop', reason: event.reason, message: event.message };
  }
}

/** The lines for a new state of an item: `item` for each new phase or preparation, then the events of its job and files. */
export function linesOfItem(before: ItemProgress | null, now: ItemProgress, atMs: number): readonly Line[] {
  const { item, state } = now;
  const isNews =
    before === null || before.state.phase !== state.phase || doingOf(before.state) !== doingOf(state);
  return [
    ...(isNews ? [itemLine(item, state, atMs)] : []),
    ...createdLines(item, before?.state ?? null, state),
    ...jobLines(before?.state ?? null, state),
    ...endLines(item, state),
  ];
}

function doingOf(state: ItemState): Doing | null {
  return state.phase === 'preparing' ? state.doing : null;
}

function itemLine(item: BatchItem, state: ItemState, atMs: number): Line {
  return {
    type: 'item',
    key: item.key,
    label: item.label,
    kind: item.kind,
    target_language: item.targetLanguage,
    phase: state.phase,
    job_id: jobIdOf(state),
    at: new Date(atMs).toISOString(),
    ...(state.phase === 'done' ? { before: state.before, charged_credits: state.credits } : {}),
    ...(state.phase === 'preparing' ? { doing: state.doing } : {}),
    ...(state.phase === 'left' ? { because: state.because } : {}),
  };
}

function jobIdOf(state: ItemState): string | null {
  return 'jobId' in state ? state.jobId : null;
}

/** Only jobs that this run submitted are new; others are resumed. */
function createdLines(item: BatchItem, before: ItemState | null, state: ItemState): Line[] {
  const id = jobIdOf(state);
  if (before?.phase !== 'submitting' || id === null) return [];
  return [{ type: 'created', input: item.input.label, id, target_language: item.targetLanguage }];
}

function jobLines(before: ItemState | null, state: ItemState): Line[] {
  const id = jobIdOf(state);
  const status = statusOf(before, state);
  if (id === null || status === null) return [];
  const stage = state.phase === 'processing' ? state.stage : null;
  return [{ type: 'job', id, status, stage, progress: progressOf(state, status) }];
}

/** The status of the job at the service; null if it has not changed. */
function statusOf(before: ItemState | null, state: ItemState): string | null {
  switch (state.phase) {
    case 'queued':
    case 'processing':
      return state.phase;
    case 'downloading':
      return before?.phase === 'downloading' ? null : 'succeeded';
    case 'done':
      return state.before !== null || before?.phase === 'downloading' ? null : 'succeeded';
    case 'failed':
      // A delivered result that lacks cues is that of a job that has succeeded.
      if (state.failure.facts.category !== 'job' || state.failure.facts.code === CUES_MISSING) return null;
      return state.failure.facts.code === 'JOB_CANCELLED' ? 'cancelled' : 'failed';
    default:
      return null;
  }
}

/** Percent, as the service counts it. */
function progressOf(state: ItemState, status: string): number | null {
  if (state.phase === 'processing') return Math.floor(state.fraction * 100);
  if (status === 'succeeded') return 100;
  return status === 'queued' ? 0 : null;
}

function endLines(item: BatchItem, state: ItemState): Line[] {
  if (state.phase === 'done') {
    const skipped = state.before !== null;
    const { jobId: id, provenance = null } = state;
    const files = state.files.map((file) => ({ type: 'file', id, ...file, skipped }));
    return provenance === null ? files : [...files, { type: 'provenance', id, ...provenance }];
  }
  if (state.phase !== 'failed') return [];
  const { code, message, retryable, requestId } = state.failure.facts;
  const { provenance = null, jobId: id } = state;
  return [
    ...(provenance === null ? [] : [{ type: 'provenance', id, ...provenance }]),
    {
      type: 'failed',
      input: item.input.label,
      target_language: item.targetLanguage,
      id: state.jobId,
      code,
      message,
      retryable: retryable ?? false,
      request_id: requestId ?? null,
    },
  ];
}

/** The last line of a run. */
export function summaryLine(
  outcomes: readonly Pick<BatchOutcome, 'state'>[],
  credits: CreditTotals | null,
  exitCode: number,
): Line {
  const count = (phase: ItemState['phase']) => outcomes.filter(({ state }) => state.phase === phase).length;
  return {
    type: 'summary',
    jobs: outcomes.length,
    done: count('done'),
    failed: count('failed'),
    left: count('left'),
    // A partial sum would be wrong.
    charged_credits: credits === null || credits.unknown > 0 ? null : credits.charged,
    reserved_credits: credits === null || credits.unknown > 0 ? null : credits.reserved,
    exit_code: exitCode,
  };
}
