/** Next step for the attempts of earlier runs: never pay twice, never lose a paid result. Pure. */
import { LIMITS } from '../../protocol/limits.ts';
import { type Attempt, type Attempts, type Reason, reasonOf, type StoredFile } from './attempts.ts';

export type NextStep =
  /** Send the request again, same key and same body: it may have arrived, and the service makes only one job. */
  | { readonly step: 'submit'; readonly key: string; readonly asked: Attempt }
  /** Wait for the job. */
  | { readonly step: 'attach'; readonly key: string; readonly jobId: string }
  | { readonly step: 'download'; readonly key: string; readonly jobId: string }
  | { readonly step: 'nothing'; readonly key: string; readonly because: NothingLeft };

type NothingLeft =
  | { readonly reason: 'downloaded'; readonly files: readonly StoredFile[] }
  /** Nothing was made or charged. */
  | { readonly reason: 'refused'; readonly code: string; readonly retryable: boolean }
  /** The job ended without a result; its credits are released. */
  | {
      readonly reason: 'failed' | 'cancelled';
      readonly jobId: string;
      readonly error: Reason | null;
    }
  /**
   * By the clock of this machine the service has forgotten the call. It may have been charged, so only its user can decide
   * to pay again, and that when the service has said so.
   */
  | { readonly reason: 'expired'; readonly jobId: string | null };

/** Margin for network delay and clock skew. */
const MARGIN_MS = 60 * 60_000;

/**
 * Next step for one attempt.
 * @param now milliseconds since the epoch
 */
export function nextStep(asked: Attempt, now: number): NextStep {
  const { key, state, job_id: jobId, files } = asked;
  const nothing = (because: NothingLeft): NextStep => ({ step: 'nothing', key, because });
  if (state === 'refused')
    return nothing({ reason: state, code: asked.error ?? '', retryable: asked.retryable });
  if (jobId === null) {
    const ageMs = now - Date.parse(asked.asked_at);
    // A record from the future was written or is read with a wrong clock: its age is unknown.
    const isKnown = ageMs > -MARGIN_MS && ageMs < LIMITS.retentionMs - MARGIN_MS;
    return isKnown ? { step: 'submit', key, asked } : nothing({ reason: 'expired', jobId });
  }
  if (state === 'downloaded') return nothing({ reason: state, files });
  if (state === 'failed' || state === 'cancelled')
    return nothing({ reason: state, jobId, error: reasonOf(asked) });
  // The job is at least as old as the record, so it has been deleted unless the clock is wrong; requesting it costs nothing.
  if (now - lastSeenMs(asked) >= LIMITS.retentionMs) return nothing({ reason: 'expired', jobId });
  return { step: state === 'accepted' ? 'attach' : 'download', key, jobId };
}

/** When the job of an attempt was last heard of, milliseconds since 1970. */
export function lastSeenMs({ downloaded_at, finished_at, accepted_at, asked_at }: Attempt): number {
  return Date.parse(downloaded_at ?? finished_at ?? accepted_at ?? asked_at);
}

/** A new attempt, with a fresh key. */
export interface NewAttempt {
  readonly step: 'intend';
  /** Why the one before it came to nothing, if there was one; a failure that is not retryable is likely to come again. */
  readonly after: Extract<NothingLeft, { reason: 'refused' | 'failed' | 'cancelled' }> | null;
}

/**
 * Next step for an item when the same command runs again: its newest attempt decides, and only one that was
 * surely not charged makes room for a new one.
 */
export function nextStepForItem(attempts: Attempts, item: string, now: number): NextStep | NewAttempt {
  const key = attempts.byItem.get(item)?.at(-1);
  const attempt = key === undefined ? undefined : attempts.byKey.get(key);
  if (attempt === undefined) return { step: 'intend', after: null };
  const next = nextStep(attempt, now);
  if (next.step !== 'nothing') return next;
  const { because } = next;
  if (because.reason === 'downloaded' || because.reason === 'expired') return next;
  return { step: 'intend', after: because };
}
