/** The calendar month that quotas count by. Source: specification, "Credit balance". */

export const QUOTA_TIME_ZONE = 'Asia/Shanghai';
/** Asia/Shanghai is eight hours ahead of UTC and has had no summer time since 1991. */
const OFFSET_MS = 8 * 60 * 60_000;

/** The month that holds an instant: its name, `2026-11`, and the instant at which the next one begins. */
export function monthOf(now: number): { name: string; endsAt: number } {
  const local = new Date(now + OFFSET_MS);
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()];
  return {
    name: `${String(year).padStart(4, '0')}-${String(month + 1).padStart(2, '0')}`,
    endsAt: Date.UTC(year, month + 1) - OFFSET_MS,
  };
}
