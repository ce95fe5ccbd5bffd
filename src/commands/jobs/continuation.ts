/** Next steps for a user after a run: continue it, download the results of unfinished jobs, open or redo results. */

import { relative } from 'node:path';
import type { Failure } from '../../base/failure.ts';
import { type Delivery, deliveryOf, languageOfItem } from '../../batch/inputs/delivery.ts';
import type { BatchItem } from '../../batch/item.ts';
import { fixParts } from '../../batch/result-name.ts';
import type { RunOutcome } from '../../batch/run/batch.ts';
import { isSwitchedOn } from '../../profiles/resolve.ts';
import type { Context } from '../context/context.ts';
import { formatLocalTime } from '../context/format.ts';
import { continueCommand, quoteForShell, redoCommand, writeCommand } from '../context/printed-command.ts';
import type { Outcome } from './job-outcomes.ts';

/** A note for unfinished jobs of the embedded service. */
export const EMBEDDED_STOPS =
  'The embedded service works only while vloc runs; its jobs continue with the next command.';

/** `vloc jobs wait ID… --out … --name …`: continues with jobs by their ids, into the same folder. */
export function deliveryCommand(
  verb: 'wait' | 'download',
  ids: readonly string[],
  { folder, isFolderGiven = false, template, existing, toStdout = false, isAsIs = false }: Delivery,
  context: Pick<Context, 'io' | 'service'>,
): string {
  const words = ['jobs', verb, ...ids, ...(isAsIs ? ['--as-is'] : [])];
  if (toStdout) return writeCommand(context, [...words, '--out', '-']);
  if (isFolderGiven || folder !== context.io.cwd) words.push('--out', folder);
  if (template !== '') words.push('--name', template);
  if (existing === 'replace') words.push('--clobber');
  if (existing === 'skip') words.push('--skip-existing');
  return writeCommand(context, words);
}

/** A request may have been on its way, so the service may have a job. */
const STOPPED_EARLY =
  'Stopped before the service confirmed a job. If it has one, the command below continues it; nothing is charged twice.';

/** The state of an interrupted run. */
export function describeStop(outcomes: readonly RunOutcome[]): string {
  const running = outcomes.filter(isRunning).length;
  const done = outcomes.filter(({ state }) => state.phase === 'done').length;
  if (running === 0 && done === 0) return STOPPED_EARLY;
  if (outcomes.length === 1) return 'Stopped waiting; the job is kept and nothing is lost.';
  return `Stopped waiting: ${done} of ${outcomes.length} done, ${running} running. The jobs are kept and nothing is lost.`;
}

/** Prints the command that continues. @param delivery null if several jobs make a result, so that one of them is not enough */
export function noteContinuation(
  context: Context,
  outcomes: readonly RunOutcome[],
  delivery: Delivery | null,
  isEmbedded: boolean,
): void {
  const { note } = context.terminal;
  if (isEmbedded && (delivery === null || outcomes.some(isRunning))) note(EMBEDDED_STOPS);
  const isStopped = outcomes.some(({ state }) => state.phase === 'left' && state.because !== 'detached');
  note('Continue with:');
  note(`  ${continueCommand(context, isStopped)}`);
  const [only] = outcomes;
  if (delivery === null || outcomes.length !== 1 || only === undefined || !isRunning(only)) return;
  const { item, state, partJobs } = only;
  // Only the command itself joins parts.
  if (partJobs !== undefined) return;
  if (state.jobId === null || !isWrittenByWait(delivery, item)) return;
  note('or, by the id of the job:');
  note(`  ${deliveryCommand('wait', [state.jobId], fixDelivery(delivery, item), context)}`);
}

/** Up to this number, each job has its own command; for more, the command of the whole run is printed. */
const FEW_COMMANDS = 5;

/** Prints the commands for paid jobs whose results could not be downloaded. */
export function noteKeptJobs(context: Context, outcomes: readonly RunOutcome[], delivery: Delivery): void {
  const { note } = context.terminal;
  const kept = outcomes.flatMap(({ item, state, partJobs }) =>
    state.phase === 'failed' && state.jobId !== null && isResultKept(state.failure)
      ? [
          {
            item,
            jobId: state.jobId,
            isWhole: partJobs === undefined && isWrittenByWait(delivery, item),
          },
        ]
      : [],
  );
  if (kept.length === 0) return;
  // Only the command itself joins parts.
  const isEach = kept.length <= FEW_COMMANDS;
  const commands =
    isEach && kept.every(({ isWhole }) => isWhole)
      ? kept.map(({ item, jobId }) => {
          return deliveryCommand('wait', [jobId], fixDelivery(delivery, item), context);
        })
      : [continueCommand(context)];
  note('The service still has these jobs, and results are not charged again. Continue with:');
  for (const command of commands) note(`  ${command}`);
}

/**
 * Whether `jobs wait` writes the result as the command itself does: it finds the source of a translation, but no speakers in a
 * video, nor what several results are put together to.
 */
function isWrittenByWait(delivery: Delivery, item: BatchItem): boolean {
  const { input } = item;
  if (item.isInner === true) return false;
  const isFound = input.type === 'lines' && input.file !== null;
  return isFound || deliveryOf(delivery, item).rewrite === undefined;
}

/** The delivery of one item, for a command that does not know its input. */
function fixDelivery(delivery: Delivery, item: BatchItem): Delivery {
  const known = { stem: item.input.stem, lang: languageOfItem(item) };
  return { ...deliveryOf(delivery, item), template: fixParts(delivery.template, known) };
}

/** True if the connection failed and not the job: the service keeps the result. */
export function isResultKept({ facts: { origin, code } }: Failure): boolean {
  const isOnTheWay = origin === 'storage' || origin === 'gateway' || origin === 'network';
  return isOnTheWay && code !== 'RESULT_EXPIRED';
}

/** True for a submitted job without a downloaded result. */
function isRunning({ state }: RunOutcome): boolean {
  return state.phase === 'left' && state.jobId !== null;
}

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'Invoke-Item' };

const TEXT = /\.(srt|vtt|ass|jsonl?)$/i;

/**
 * How to play and redo the results, and when their download links expire; in the table form only, for people who pay: on this machine
 * nothing expires or costs.
 */
export function describeNextSteps(
  context: Context,
  outcomes: readonly Outcome[],
  isFree: boolean,
): readonly string[] {
  const [file] = outcomes.flatMap((outcome) => outcome.files);
  if (isFree || !isForPeople(context) || file === undefined) return [];
  const expiry = outcomes[0]?.job?.expires_at ?? null;
  return [
    '',
    `${TEXT.test(file.path) ? 'Read' : 'Play'} it:  ${openCommand(context, file.path)}`,
    ...(expiry === null ? [] : [`The download link expires on ${formatLocalTime(expiry)}.`]),
    `Start over (charged again): ${redoCommand(context)}`,
  ];
}

/** Whether a person reads the output, and no CI system or program. */
export function isForPeople({ present, io }: Pick<Context, 'present' | 'io'>): boolean {
  return present.part === 'pages' && !isSwitchedOn(io.env.CI);
}

/** Prints that everything was done before, and returns true, if that is so. */
export function noteIdle(context: Context, outcomes: readonly Pick<RunOutcome, 'state'>[]): boolean {
  const isIdle = outcomes.every(({ state }) => state.phase === 'done' && state.before !== null);
  const isHere = outcomes.every(({ state }) => state.phase === 'done' && state.before !== 'recorded');
  const [one, all] = isHere ? ['the result exists', 'results exist'] : ['the item is done', 'items are done'];
  const count = outcomes.length === 1 ? one : `all ${outcomes.length} ${all}`;
  if (isIdle && outcomes.length > 0) context.terminal.note(`Nothing to do: ${count}.`);
  return isIdle;
}

/** The command that plays a video or a sound, or shows a text. */
export function openCommand({ io }: Pick<Context, 'io'>, path: string): string {
  const shown = relative(io.cwd, path);
  const opener = OPENERS[io.platform] ?? (TEXT.test(path) ? 'less' : 'ffplay -autoexit');
  return `${opener} ${quoteForShell(shown.startsWith('..') ? path : shown, io.platform)}`;
}
