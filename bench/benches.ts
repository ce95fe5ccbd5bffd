/** All benches, the most important first. Each is loaded when it runs, because some load much of the source. */
import { existsSync } from 'node:fs';
import { POSTGRES_PROGRAMS } from '../test/support/postgres.ts';
import type { Figure } from './figure.ts';

interface Bench {
  /** @param isShort small sizes and one round: shows only that the bench still measures what it says */
  measure(isShort: boolean): Promise<readonly Figure[]>;
  /** Default: no program that could be missing. */
  readonly hasPrograms?: boolean;
}

/** Linux programs that measure other processes. */
const hasTime = existsSync('/usr/bin/time');
const CHROMIUM = '/usr/bin/chromium';

export const BENCHES: Readonly<Record<string, Bench>> = {
  startup: { measure: async (isShort) => (await import('./startup.ts')).measureStartup(isShort) },
  'cold-start': { measure: async (isShort) => (await import('./cold-start.ts')).measureColdStart(isShort) },
  transfer: {
    measure: async (isShort) => (await import('./transfer.ts')).measureTransfer(isShort),
    hasPrograms: hasTime && existsSync('/usr/bin/curl'),
  },
  requests: { measure: async (isShort) => (await import('./requests.ts')).measureRequests(isShort) },
  batch: { measure: async (isShort) => (await import('./batch.ts')).measureBatch(isShort) },
  waiting: { measure: async (isShort) => (await import('./waiting.ts')).measureWaiting(isShort) },
  load: { measure: async (isShort) => (await import('./load.ts')).measureLoad(isShort) },
  engines: { measure: async (isShort) => (await import('./engines.ts')).measureEngines(isShort) },
  report: {
    measure: async (isShort) => (await import('./report.ts')).measureReport(isShort),
    hasPrograms: existsSync(CHROMIUM),
  },
  overhead: {
    measure: async (isShort) => (await import('./overhead.ts')).measureOverhead(isShort),
    hasPrograms: hasTime,
  },
  'many-videos': {
    measure: async (isShort) => (await import('./many-videos.ts')).measureManyVideos(isShort),
    hasPrograms: hasTime,
  },
  'long-video': { measure: async (isShort) => (await import('./long-video.ts')).measureLongVideo(isShort) },
  split: { measure: async (isShort) => (await import('./split.ts')).measureSplit(isShort) },
  scale: {
    measure: async (isShort) => (await import('./scale.ts')).measureScale(isShort),
    hasPrograms: POSTGRES_PROGRAMS !== null,
  },
  history: {
    measure: async (isShort) => (await import('./history.ts')).measureHistory(isShort),
    hasPrograms: POSTGRES_PROGRAMS !== null,
  },
  claims: {
    measure: async (isShort) => (await import('./claims.ts')).measureClaims(isShort),
    hasPrograms: POSTGRES_PROGRAMS !== null,
  },
};
