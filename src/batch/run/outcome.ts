/** The failure of a whole run, which decides the exit code. Pure. Source: design, "Exit codes". */

import { Failure } from '../../client/index.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { BatchOutcome, StopReason } from '../item.ts';
import { type InputProblem, NOT_USABLE, unusableInputFailure } from '../plan/input.ts';
import { RESULT_GONE } from './decided-outcomes.ts';
import { advisePrice, STOP_CATEGORY, STOP_WORDS, stopsRun, whyStopped } from './stopping.ts';

/** Null if everything is done, or if the run was not supposed to wait. */
export function summarizeFailure(outcomes: readonly BatchOutcome[]): Failure | null {
  const failures = failuresOf(outcomes);
  const stop = stopOf(outcomes, failures);
  const [first] = failures;
  const isWhole = failures.length === outcomes.length;
  if (isWhole && first !== undefined && failures.every(isUnusable))
    return unusableInputFailure(unusableOf(outcomes), null);
  // The failure of a single item is clearer than a summary.
  if (outcomes.length === 1 && first !== undefined) return first;
  if (stop !== null) return stopFailure(outcomes, failures, stop);
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

/** Whether the same command does not run the job again. It does for cancelled jobs, which were stopped on purpose. */
function isPermanent({ facts }: Failure): boolean {
  return facts.category === 'job' && facts.retryable !== true && facts.code !== 'JOB_CANCELLED';
}

/** Says which failures the same command retries, and how to retry the others. */
function adviceFor(failures: readonly Failure[]): string {
  const permanent = failures.filter(isPermanent);
  const gone = failures.filter(({ facts }) => facts.code === RESULT_GONE);
  const expired = failures.filter(({ facts }) => facts.category === 'expired' && facts.code !== RESULT_GONE);
  const sentences = [
    [
      failures.length - permanent.length - expired.length - gone.length,
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
  return sentences.flatMap(([count, sentence]) => (count === 0 ? [] : [sentence])).join(' ');
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
    advice: reason === 'price-unknown' ? advisePrice(kindOf(outcomes)) : adviceOf(reason, cause),
    retryable: reason === 'network' || reason === 'timeout' || reason === 'max-duration',
    errors: errorsOf(outcomes),
  });
}

/** Of the jobs that were not started. */
function kindOf(outcomes: readonly BatchOutcome[]): JobKind | null {
  return outcomes.find(({ state }) => state.phase === 'left' && state.jobId === null)?.item.kind ?? null;
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
