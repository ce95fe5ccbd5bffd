/**
 * The time of a database as a clock, so that the leases and deadlines of all nodes end by the same time. The clock of the
 * machine may be wrong or jump; between two readings the time passes as the monotonic clock of the process says.
 */
import { type Clock, repeatWork, systemClock } from '../clock.ts';
import type { Statements } from './store.ts';

/** The clocks of this machine, in ms. */
interface MachineClocks {
  /** Since 1970; may be wrong and may jump. */
  readonly system: () => number;
  /** Since any moment; never jumps. */
  readonly steady: () => number;
  readonly schedule: Clock['schedule'];
}

const MACHINE: MachineClocks = {
  system: () => Date.now(),
  steady: () => performance.now(),
  schedule: systemClock.schedule,
};

/** Monotonic clocks drift by a millisecond in this time. */
const READ_MS = 5000;
/** A reading that took longer says too little, since the time may be from its start or its end. */
const LONGEST_READING_MS = 1000;
/** Less than this is no difference: NTP is not more exact, and a time that is moved too often would not be even. */
const TOLERANCE_MS = 100;

/** Returns the time of a PostgreSQL database, in ms since 1970. */
export async function readDatabaseTime(store: Statements): Promise<number> {
  const row = await store.get<{ now: number }>(
    'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
  );
  return row?.now ?? 0;
}

interface DatabaseClock {
  /** Shows the time of the database where `base` shows that of the machine; what tests move stays moved. */
  readonly clock: Clock;
  stop(): Promise<void>;
}

/**
 * Starts to follow the time of a database.
 * @param base the clock of the service
 * @param read returns the time of the database
 */
export async function followDatabase(
  base: Clock,
  read: () => Promise<number>,
  { system, steady, schedule }: MachineClocks = MACHINE,
): Promise<DatabaseClock> {
  /** Time of the database minus the steady time; null before the first reading. */
  let offset: number | null = null;
  /** Added to the base clock, in ms. */
  let correction = 0;

  const measure = async () => {
    const before = steady();
    const time = await read();
    const after = steady();
    if (offset === null || after - before <= LONGEST_READING_MS) offset = time - (before + after) / 2;
  };
  const correct = () => {
    if (offset === null) return correction;
    const difference = Math.round(steady() + offset - system());
    if (Math.abs(difference - correction) > TOLERANCE_MS) correction = difference;
    return correction;
  };
  await measure();
  // If it fails, the steady clock still runs, and statements that need the database report that it is away.
  const stop = repeatWork({ now: steady, schedule }, READ_MS, () => measure().catch(() => {}));
  return { clock: { now: () => base.now() + correct(), schedule: base.schedule }, stop };
}
