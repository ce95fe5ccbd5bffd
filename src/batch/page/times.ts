/** Formats times and amounts. */

/** `1:05`, `1:02:05`; rounded down, as in players. */
export function formatClock(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 1000));
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor(total / 60) % 60;
  const pad = (value: number) => String(value).padStart(2, '0');
  const seconds = pad(total % 60);
  return hours > 0 ? `${hours}:${pad(minutes)}:${seconds}` : `${minutes}:${seconds}`;
}

/** A time with tenths, for the start of a cue: `1:05.2`. */
export function formatCueTime(ms: number): string {
  const tenths = Math.floor(Math.max(0, ms) / 100);
  return `${formatClock(tenths * 100)}.${tenths % 10}`;
}

/** A duration: `2.4 s`. */
export function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** For screen readers: `1 minute 5 seconds`. */
export function speakClock(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 1000));
  const part = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;
  const minutes = Math.floor(total / 60);
  return minutes === 0 ? part(total, 'second') : `${part(minutes, 'minute')} ${part(total % 60, 'second')}`;
}

/** `1 credit`, `2.5 credits`. */
export function formatCredits(credits: number): string {
  return `${credits} credit${credits === 1 ? '' : 's'}`;
}

/** The charged credits; null means unknown. */
export function describeCharge(credits: number | null): string {
  return credits === null ? 'credits unknown' : formatCredits(credits);
}
