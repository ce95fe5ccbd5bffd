/** What people and programs see of a batch while it runs. */
import type { BatchItem, BatchListener, BatchOutcome } from '../../batch/item.ts';
import type { Context, Progress } from '../../context/context.ts';
import { showPath } from '../../context/format.ts';
import { lineOfRun, linesOfItem, summaryLine } from './event-lines.ts';
import { createPicture, isActive, type Sight, stepOf } from './progress.ts';

interface BatchView {
  readonly listener: BatchListener;
  /** Writes the last line of `--output ndjson`; nothing in the other forms. */
  summarize(outcomes: readonly BatchOutcome[], exitCode: number): void;
  /** Takes progress off the terminal; a second time does nothing. */
  close(): void;
}

interface BatchViewOptions {
  readonly items: readonly BatchItem[];
  /** True where more items may come, as from a folder that is watched. */
  readonly grows?: boolean;
}

/** So many have room for the whole story of each. */
const FEW = 3;

/** The caller must `close` it before anything is written to stdout for people. */
export async function createBatchView(
  context: Context,
  { items, grows = false }: BatchViewOptions,
): Promise<BatchView> {
  const picture = createPicture(items);
  const { terminal, io } = context;
  const isMany = grows || items.length > FEW;
  const look = () => {
    const seen = picture.look(io.now());
    // What comes is not known, and in the hours before it came nothing was done.
    return grows ? { ...seen, leftMs: null } : seen;
  };
  const progress = await openProgress(context, isMany, look);
  const write = (line: object) => {
    if (context.output === 'ndjson') context.print(JSON.stringify(line));
  };
  return {
    listener: (event) => {
      const change = picture.add(event);
      if (event.type !== 'item') {
        write(lineOfRun(event));
        if (event.type === 'stop') terminal.warn(event.message);
        return;
      }
      if (change === null) return;
      for (const line of linesOfItem(change.before, change.now, event.atMs)) write(line);
      if (isMany) showOfMany(progress, change.now, event.atMs, io.cwd);
      else showOfFew(progress, change.now, event.atMs, io.cwd);
    },
    summarize: (outcomes, exitCode) => {
      write(summaryLine(outcomes, picture.look(io.now()).credits, exitCode));
    },
    close: () => progress.close(),
  };
}

const NONE: Progress = { show: () => undefined, end: () => undefined, close: () => undefined };

function openProgress(
  { terminal, output, io }: Context,
  isMany: boolean,
  look: Parameters<Context['terminal']['board']>[0],
): Promise<Progress> {
  // Events and a frame on one terminal would write over each other; the events tell all that the frame does.
  if (output === 'ndjson' && io.stdout.isTTY === true) return Promise.resolve(NONE);
  return isMany ? terminal.board(look) : terminal.progress();
}

/** What was done before and what is left behind are in the totals: a line for each would bury what went wrong. */
function showOfMany(progress: Progress, { item, state, phaseMs }: Sight, nowMs: number, cwd: string): void {
  if (isActive(state)) progress.show(item.label, stepOf(state, nowMs - phaseMs));
  else if (state.phase === 'failed') progress.end(item.label, 'failed', state.failure.message);
  else if (state.phase === 'done' && state.before === null) endDone(progress, item.label, state.files, cwd);
}

function showOfFew(progress: Progress, { item, state, phaseMs }: Sight, nowMs: number, cwd: string): void {
  const { label } = item;
  switch (state.phase) {
    case 'waiting':
    // Over at once, mostly: a line that says so would only be noise.
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
