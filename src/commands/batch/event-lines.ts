/** The lines of `--output ndjson` while a batch runs. */
import type {
  BatchEvent,
  BatchItem,
  BatchOutcome,
  CreditTotals,
  Doing,
  ItemState,
} from '../../batch/item.ts';
import type { ItemProgress } from './progress.ts';

type Line = Readonly<Record<string, unknown>>;

/** The line for an event about the run. */
export function lineOfRun(event: Exclude<BatchEvent, { type: 'item' }>): Line {
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
      if (state.failure.facts.category !== 'job') return null;
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
  return [
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
