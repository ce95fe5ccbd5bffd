/** 2 s, then 4 s: long enough for a passing shortage of memory, short enough that nobody waits for it. */
const FIRST_DELAY_MS = 2000;

/** How long to wait before an attempt is made again. `attempt` is the one that failed, from 1. */
export function retryDelayMs(attempt: number): number {
  return FIRST_DELAY_MS * 2 ** (attempt - 1);
}
