/** What a whole run ends with: nothing, or the one failure that the exit code follows from. Pure. Source: design, "Exit codes". */
import { Failure } from '../../client/index.ts';
import type { BatchOutcome, StopReason } from '../item.ts';
import { STOP_CATEGORY, STOP_WORDS } from './stop.ts';

/** Null when all is done, or nobody waits for what is left. */
export function summarizeOutcomes(outcomes: readonly BatchOutcome[]): Failure | null {
  const failures = failuresOf(outcomes);
  const stop = stopOf(outcomes, failures);
  const [first] = failures;
  // The failure of the only item tells more than any summary.
  if (outcomes.length === 1 && first !== undefined) return first;
  if (stop !== null) return stopFailure(outcomes, stop);
  if (first === undefined) return null;
  const isWhole = failures.length === outcomes.length;
  const isOneKind = failures.every((failure) => failure.facts.category === first.facts.category);
  return new Failure({
    category: isWhole && isOneKind ? first.facts.category : 'partial',
    code: isWhole && isOneKind ? first.facts.code : 'SOME_FAILED',
    message: `${failures.length} of ${outcomes.length} jobs did not give a result`,
    advice: 'Mend what each of them names, then run the same command again: only those run.',
    errors: errorsOf(outcomes),
  });
}

function failuresOf(outcomes: readonly BatchOutcome[]): Failure[] {
  return outcomes.flatMap(({ state }) => (state.phase === 'failed' ? [state.failure] : []));
}

/** Why the run came to a stop, as far as that left something undone. */
function stopOf(outcomes: readonly BatchOutcome[], failures: readonly Failure[]): StopReason | null {
  const reasons = outcomes.flatMap(({ state }) => (state.phase === 'left' ? [state.because] : []));
  const reason = reasons.find((each) => STOP_CATEGORY[each] !== null);
  if (reason !== undefined) return reason;
  // All that were under way may have met it themselves.
  const ofMoney = failures.filter(({ facts }) => facts.category === 'credits');
  if (ofMoney.some(({ facts }) => facts.code === CODES.quota)) return 'quota';
  return ofMoney.length > 0 ? 'no-credits' : null;
}

function stopFailure(outcomes: readonly BatchOutcome[], reason: StopReason): Failure {
  const count = (isWanted: (outcome: BatchOutcome) => boolean) => outcomes.filter(isWanted).length;
  const done = count(({ state }) => state.phase === 'done');
  const begun = count(({ state }) => state.phase === 'left' && state.jobId !== null);
  const failed = count(({ state }) => state.phase === 'failed');
  const rest = outcomes.length - done - begun - failed;
  const parts = [
    `${done} of ${outcomes.length} done`,
    ...(begun > 0 ? [`${begun} still running`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(rest > 0 ? [`${rest} not begun`] : []),
  ];
  const { why, advice } = STOP_WORDS[reason];
  return new Failure({
    category: STOP_CATEGORY[reason] ?? 'partial',
    code: CODES[reason],
    message: `${why}: ${parts.join(', ')}`,
    advice,
    retryable: reason === 'network' || reason === 'timeout' || reason === 'max-duration',
    errors: errorsOf(outcomes),
  });
}

const CODES: Readonly<Record<StopReason, string>> = {
  'max-credits': 'MAX_CREDITS_REACHED',
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
