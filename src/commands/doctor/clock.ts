/** This machine's clock against that of the service. */
import { SKEW_THRESHOLD_MS } from '../../client/transport/server-time.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Result } from './finding.ts';

/**
 * Judges by the `Date` header of an answer, which has whole seconds.
 * @param sentMs when the request left, `receivedMs` when the answer came; milliseconds since 1970
 */
export function judgeClock(date: string | undefined, sentMs: number, receivedMs: number): Result {
  const serviceMs = Date.parse(date ?? '');
  if (Number.isNaN(serviceMs)) return { grade: 'warn', message: 'the service does not say what time it is' };
  // The header is cut to the second and was written while the request was under way.
  const seconds = Math.round(((sentMs + receivedMs) / 2 - (serviceMs + 500)) / 1000);
  const facts = { ahead_seconds: seconds };
  const away = Math.abs(seconds);
  if (away === 0) return { grade: 'ok', message: 'agrees with the service to the second', facts };
  const message = `${away} s ${seconds > 0 ? 'ahead of' : 'behind'} the service`;
  const fix = 'Set the clock by the network: `timedatectl set-ntp true` or the settings of the system.';
  if (away > LIMITS.timestampSkewSeconds) return { grade: 'fail', message, fix, facts };
  return away * 1000 > SKEW_THRESHOLD_MS
    ? { grade: 'warn', message, fix, facts }
    : { grade: 'ok', message, facts };
}
