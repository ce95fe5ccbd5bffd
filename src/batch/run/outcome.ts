/** The failure of a whole run, which decides the exit code. Pure. Source: design, "Exit codes". */

import { resolve } from 'node:path';
import { expiredFailure, jobFailure } from '../../base/failure.ts';
import { Failure } from '../../client/index.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { type InputProblem, NOT_USABLE, unusableInputFailure } from '../input.ts';
import type { BatchItem, BatchOutcome, ItemState, StopReason } from '../item.ts';
import { CUES_MISSING, describeMissingCues, type MissingCue } from '../item-provenance.ts';
import type { Decision } from '../plan/decision.ts';
import { decisionFailure, isRefused } from '../plan/refusal.ts';
import type { Attempt } from '../records/attempts.ts';
import { lastSeenMs } from '../records/next-step.ts';
import { nameParts } from '../records/record-folder.ts';
import type { RunOutcome, Task } from './batch.ts';
import { advisePrice, STOP_CATEGORY, STOP_WORDS, stopsRun, whyStopped } from './stopping.ts';

/**
 * Null if everything is done, or if the run was not supposed to wait.
 * @param kinds of the jobs that were not started; default: those of the outcomes
 */
export function summarizeFailure(
  outcomes: readonly BatchOutcome[],
  kinds: readonly JobKind[] = kindsOf(outcomes),
): Failure | null {
  const failures = failuresOf(outcomes);
  const stop = stopOf(outcomes, failures);
  const [first] = failures;
  const isWhole = failures.length === outcomes.length;
  if (isWhole && first !== undefined && failures.every(isUnusable))
    return unusableInputFailure(unusableOf(outcomes), null);
  // The failure of a single item is clearer than a summary.
  if (outcomes.length === 1 && first !== undefined) return first;
  if (stop !== null) return stopFailure(outcomes, failures, stop, kinds);
  if (first === undefined) return null;
  const isOneKind = failures.every((failure) => failure.facts.category === first.facts.category);
  return new Failure({
    category: isWhole && isOneKind ? first.facts.category : 'partial',
    code: isWhole && isOneKind ? first.facts.code : 'SOME_FAILED',
    message: `${failures.length} of ${outcomes.length} items failed`,
    advice: adviceFor(failures),
    errors: errorsOf(outcomes),
  });
}

function isUnusable({ facts }: Failure): boolean {
  return facts.code === NOT_USABLE;
}

/** Each problem once, not once for each language. */
function unusableOf(outcomes: readonly BatchOutcome[]): InputProblem[] {
  const problems = outcomes.flatMap(({ item, state }): InputProblem[] =>
    state.phase === 'failed' ? [{ pointer: item.input.label, detail: state.failure.message }] : [],
  );
  return [...new Map(problems.map((each) => [`${each.pointer}\0${each.detail}`, each])).values()];
}

/** Jobs that were stopped on purpose run again, and files that a person completes are checked again. */
const LOOKED_AT_AGAIN: readonly string[] = ['JOB_CANCELLED', CUES_MISSING];

/** Whether the same command does not run the job again. */
function isPermanent({ facts }: Failure): boolean {
  return facts.category === 'job' && facts.retryable !== true && !LOOKED_AT_AGAIN.includes(facts.code);
}

/** Says which failures the same command retries, and how to retry the others. */
function adviceFor(failures: readonly Failure[]): string {
  const permanent = failures.filter(isPermanent);
  const gone = failures.filter(({ facts }) => facts.code === RESULT_GONE);
  const expired = failures.filter(({ facts }) => facts.category === 'expired' && facts.code !== RESULT_GONE);
  const own = failures.filter(hasOwnWay);
  const sentences = [
    [
      failures.length - permanent.length - expired.length - gone.length - own.length,
      'Fix the problems above, then run the same command again: what is done is not repeated.',
    ],
    [
      permanent.length,
      'Jobs that failed permanently are not retried by it: add --retry-failed for new ones.',
    ],
    [
      expired.length,
      'Expired results need new jobs, charged again: `vloc batch retry` with --all makes them.',
    ],
    [
      gone.length,
      '--skip-done counts downloaded results as done whose files are gone; --fresh makes new jobs, charged again.',
    ],
  ] as const;
  const said = sentences.flatMap(([count, sentence]) => (count === 0 ? [] : [sentence]));
  return [...said, ...adviseOwnWays(failures)].join(' ');
}

/** Failures of items that need no fix, but a choice, which their message or advice names. */
const CHOICES: readonly string[] = ['ITEM_CHANGED', 'RESULT_CHANGED', 'LANGUAGE_NOT_SUPPORTED'];

function hasOwnWay({ facts }: Failure): boolean {
  return CHOICES.includes(facts.code);
}

/** The advice of such failures, each once. */
export function adviseOwnWays(failures: readonly Failure[]): readonly string[] {
  return [...new Set(failures.filter(hasOwnWay).flatMap(({ facts }) => facts.advice ?? []))];
}

function failuresOf(outcomes: readonly BatchOutcome[]): Failure[] {
  return outcomes.flatMap(({ state }) => (state.phase === 'failed' ? [state.failure] : []));
}

/** Why the run stopped, if that left something undone. */
function stopOf(outcomes: readonly BatchOutcome[], failures: readonly Failure[]): StopReason | null {
  const reasons = outcomes.flatMap(({ state }) => (state.phase === 'left' ? [state.because] : []));
  const reason = reasons.find((each) => STOP_CATEGORY[each] !== null);
  if (reason !== undefined) return reason;
  // Perhaps all running items failed for this reason.
  const met = new Set(failures.map(stopsRun));
  return (['quota', 'no-credits'] as const).find((each) => met.has(each)) ?? null;
}

function stopFailure(
  outcomes: readonly BatchOutcome[],
  failures: readonly Failure[],
  reason: StopReason,
  kinds: readonly JobKind[],
): Failure {
  const count = (isWanted: (outcome: BatchOutcome) => boolean) => outcomes.filter(isWanted).length;
  const done = count(({ state }) => state.phase === 'done');
  const begun = count(({ state }) => state.phase === 'left' && state.jobId !== null);
  const failed = count(({ state }) => state.phase === 'failed');
  const rest = outcomes.length - done - begun - failed;
  const parts = [
    `${done} of ${outcomes.length} done`,
    ...(begun > 0 ? [`${begun} still running`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(rest > 0 ? [`${rest} not started`] : []),
  ];
  // The failure is more precise than the reason: a key can be refused in several ways.
  const cause = failures.find((failure) => stopsRun(failure) === reason);
  return new Failure({
    category: STOP_CATEGORY[reason] ?? 'partial',
    code: cause?.facts.code ?? CODES[reason],
    message: `${whyStopped(reason, cause)}: ${parts.join(', ')}`,
    advice: reason === 'price-unknown' ? advisePrice(kinds) : adviceOf(reason, cause),
    retryable: reason === 'network' || reason === 'timeout' || reason === 'max-duration',
    errors: errorsOf(outcomes),
  });
}

/** Kinds of the jobs that were not started. */
function kindsOf(outcomes: readonly BatchOutcome[]): readonly JobKind[] {
  const left = outcomes.filter(({ state }) => state.phase === 'left' && state.jobId === null);
  return [...new Set(left.map(({ item }) => item.kind))];
}

function adviceOf(reason: StopReason, cause: Failure | undefined): string {
  const first = cause?.facts.advice;
  const isGeneral = first === undefined || STOP_CATEGORY[reason] !== 'configuration';
  return isGeneral
    ? STOP_WORDS[reason].advice
    : `${first} Then run the same command again: only the rest runs.`;
}

const CODES: Readonly<Record<StopReason, string>> = {
  'max-credits': 'MAX_CREDITS_REACHED',
  'price-unknown': 'PRICE_UNKNOWN',
  'no-credits': 'INSUFFICIENT_CREDITS',
  quota: 'CREDIT_QUOTA_EXCEEDED',
  'max-duration': 'MAX_DURATION_REACHED',
  authentication: 'AUTHENTICATION_FAILED',
  network: 'SERVICE_OUT_OF_REACH',
  timeout: 'STILL_RUNNING',
  interrupted: 'INTERRUPTED',
  broken: 'BROKEN',
  detached: 'DETACHED',
};

function errorsOf(outcomes: readonly BatchOutcome[]) {
  return outcomes.flatMap(({ item, state }) =>
    state.phase === 'failed'
      ? [{ pointer: item.label, detail: `${state.failure.message} (${state.failure.facts.code})` }]
      : [],
  );
}

/** The code of a failure: the result was downloaded, and neither this disk nor the service has it. */
const RESULT_GONE = 'RESULT_GONE';

/** @param jobId null if it is unknown whether there was a job */
export function resultExpiredFailure(jobId: string | null): Failure {
  const message =
    jobId === null
      ? 'the service no longer has a job for this request, and the request is too old to be sent again'
      : `the service no longer has the job ${jobId}, and its result was not downloaded`;
  return expiredFailure(
    'RESULT_EXPIRED',
    message,
    'Run the same command with --fresh for a new job, which is charged again.',
    { ...(jobId === null ? {} : { jobId }) },
  );
}

/** The failure of a result that was downloaded, and is gone here and at the service. */
export function resultGoneFailure(attempt: Attempt, folder: string): Failure {
  const { job_id: jobId } = attempt;
  const places = attempt.files.map(({ path }) => resolve(folder, path)).join(', ');
  const at = new Date(lastSeenMs(attempt)).toISOString();
  return expiredFailure(
    RESULT_GONE,
    `the result was downloaded on ${at.slice(0, 10)} and is no longer at ${places}; the service no longer has it (job ${jobId})`,
    'Use --skip-done to count it as done. For a new job, which is charged again, use --fresh, with --include to choose the inputs.',
    jobId === null ? {} : { jobId },
  );
}

/** The failure of a translation that lacks cues of its source. @param file that a person completes, as messages name it */
export function cuesMissingFailure(missing: readonly MissingCue[], file: string): Failure {
  const them = missing.length === 1 ? 'it' : 'them';
  const advice = `Add ${them} to ${file}, then run the same command again: nothing is paid twice.`;
  return jobFailure(CUES_MISSING, describeMissingCues(missing), advice, { retryable: false });
}

/** The state of an item that was done before this run. */
export function doneBefore(
  { kind }: Pick<BatchItem, 'kind'>,
  { before, jobId, files }: Extract<Decision, { step: 'done' }>,
): Extract<ItemState, { phase: 'done' }> {
  const stored = nameParts(kind, files).map(({ asset, path, size, sha256 }) => ({
    asset: asset ?? '',
    path,
    bytes: size,
    sha256,
  }));
  return { phase: 'done', jobId, before, credits: null, files: stored };
}

/** The outcome of an item that was done before, or is refused; null for one that this run takes up. */
export function endedBefore({ item, decision }: Task): RunOutcome | null {
  if (decision.step === 'done') return { item, state: doneBefore(item, decision), job: null };
  if (!isRefused(decision)) return null;
  return { item, state: { phase: 'failed', jobId: null, failure: decisionFailure(decision) }, job: null };
}
