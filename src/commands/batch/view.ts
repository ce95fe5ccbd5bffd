/** Progress of a running batch, for people and programs. */
import type { BatchEvent, BatchItem, BatchListener, BatchOutcome, ItemState } from '../../batch/item.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Context, Progress } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import { lineOfRun, linesOfItem, summaryLine } from './event-lines.ts';
import { createProvenancePrinter } from './print-provenance.ts';
import { createBatchProgress, type ItemProgress, isActive, stepOf } from './progress.ts';

export interface BatchView {
  readonly listener: BatchListener;
  /** Writes the last line of `--output ndjson`; nothing in the other forms. */
  summarize(outcomes: readonly BatchOutcome[], exitCode: number): void;
  /** Removes the progress from the terminal; may be called twice. */
  close(): void;
}

interface BatchViewOptions {
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
  const { terminal, io } = context;
  const isMany = grows || items.length > FEW;
  const look = () => {
    const seen = picture.look(io.now());
    // Future files are unknown, so there is no estimate.
    return grows ? { ...seen, leftMs: null } : seen;
  };
  const progress = await openProgress(context, isMany, look);
  const provenances = createProvenancePrinter(terminal, isMany);
  const write = (line: object) => {
    if (context.output === 'ndjson') context.print(JSON.stringify(line));
  };
  const show = (event: ItemEvent) => {
    const change = picture.add(event);
    if (change === null || isSameEnd(change.before?.state, change.now.state)) return null;
    if (isMany) showOfMany(progress, change.now, event.atMs, io.cwd);
    else showOfFew(progress, change.now, event.atMs, io.cwd);
    return change;
  };
  return {
    listener: (event) => {
      if (event.type === 'credits') {
        context.spending?.count(event.ofThisRun ?? null);
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
      const provenance = state.phase === 'done' ? (state.provenance ?? null) : null;
      if (provenance !== null)
        provenances.add({ label: item.label, kind: item.kind, key: item.key, provenance });
    },
    summarize: (outcomes, exitCode) => {
      write(summaryLine(outcomes, picture.look(io.now()).credits, exitCode));
    },
    close: () => {
      progress.close();
      provenances.end();
    },
  };
}

type ItemEvent = Extract<BatchEvent, { type: 'item' }>;

/** Whether an item that has ended is reported again. */
function isSameEnd(before: ItemState | undefined, { phase }: ItemState): boolean {
  return before?.phase === phase && (phase === 'done' || phase === 'failed' || phase === 'left');
}

/** The service need not name the stage of a job. */
const STEP_NAMES: Partial<Record<JobKind, string>> = {
  subtitle_recognition: 'recognizing',
  subtitle_translation: 'translating',
  dubbing: 'dubbing',
  audio_separation: 'separating',
};

/** The state of an item during one of its steps; null if the step does not change it. */
function stateOfWhole({ item, state }: ItemEvent): ItemState | null {
  switch (state.phase) {
    case 'processing':
      return { ...state, stage: STEP_NAMES[item.kind] ?? state.stage };
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
  { terminal, output, io }: Context,
  isMany: boolean,
  look: Parameters<Context['terminal']['board']>[0],
): Promise<Progress> {
  // Events and a live display would overwrite each other on one terminal; the events contain everything.
  if (output === 'ndjson' && io.stdout.isTTY === true) return Promise.resolve(NONE);
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
      if (state.because === 'detached') progress.end(label, 'done', `${state.jobId} accepted`);
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
