/** Record of newer versions, and the notice that a command prints about them. */
import { renameSync, writeFileSync } from 'node:fs';

/** One request and one notice in this time. */
const WEEK_MS = 7 * 24 * 3600 * 1000;

/** Result of the last check for a newer version; a file in the state folder. Times in milliseconds since 1970. */
interface UpdateRecord {
  /** When the registry was last asked, whether it answered or not. */
  readonly asked: number;
  /** The newest version that it named; null before its first answer. */
  readonly latest: string | null;
  /** When that was last mentioned. */
  readonly mentioned: number;
}

const NOTHING: UpdateRecord = { asked: 0, latest: null, mentioned: 0 };

interface UpdatePlan {
  readonly mention: string | null;
  readonly ask: boolean;
  readonly next: UpdateRecord;
}

/** Decides what a command does about newer versions. */
export function planUpdate(record: UpdateRecord, version: string, now: number): UpdatePlan {
  // A clock that was set back must not silence it for years.
  const isPast = (time: number) => now - time >= WEEK_MS || time > now;
  const ask = isPast(record.asked);
  const isNews = record.latest !== null && isNewer(record.latest, version) && isPast(record.mentioned);
  return {
    mention: isNews ? record.latest : null,
    ask,
    next: { ...record, asked: ask ? now : record.asked, mentioned: isNews ? now : record.mentioned },
  };
}

/** Whether a version comes after another one. Versions before a release, such as 2.0.0-rc.1, are for those who look for them. */
function isNewer(candidate: string, current: string): boolean {
  const numbers = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/.exec(candidate)?.slice(1).map(Number);
  if (numbers === undefined) return false;
  const [core = '', before] = current.split('-');
  const own = core.split('.').map(Number);
  const index = numbers.findIndex((number, at) => number !== own[at]);
  return index < 0 ? before !== undefined : (numbers[index] ?? 0) > (own[index] ?? 0);
}

/** Reads the record; damage counts as nothing known. */
export function readUpdateRecord(text: string): UpdateRecord {
  try {
    const { asked, latest, mentioned } = JSON.parse(text) as Partial<Record<keyof UpdateRecord, unknown>>; // checked below
    if (typeof asked !== 'number' || typeof mentioned !== 'number') return NOTHING;
    return { asked, mentioned, latest: typeof latest === 'string' ? latest : null };
  } catch {
    return NOTHING;
  }
}

/** Replaces the file in one step: another vloc may read it at the same time. */
export function writeRecord(file: string, record: UpdateRecord): void {
  const part = `${file}.${process.pid}`;
  writeFileSync(part, JSON.stringify(record), { mode: 0o600 });
  renameSync(part, file);
}
