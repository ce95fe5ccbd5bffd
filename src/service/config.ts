/** What an operator may set, with the values that the embedded service starts with. */
import { availableParallelism } from 'node:os';
import { DEFAULT_HEADER_PREFIX } from '../protocol/headers.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import { LIMITS } from '../protocol/limits.ts';

export interface ServiceConfig {
  /** Start of the names of the signature headers. */
  readonly headerPrefix: string;
  /** Scheme and host that addresses in answers start with, behind a proxy; null: the address listened on. */
  readonly publicOrigin: string | null;
  /** Credits on the account when the state folder is made. */
  readonly openingCredits: number;
  /** Credits for one unit of each kind. */
  readonly prices: Readonly<Record<JobKind, number>>;
  /** Jobs that may be queued or processing at once, over all keys. */
  readonly concurrentTasks: number;
  /** Requests that one key may make in one window, counted by each process for itself. */
  readonly rate: { readonly requests: number; readonly windowSeconds: number };
  /** When the plan of the workspace owner ends, in ms since 1970; null: never. */
  readonly planEndsAt: number | null;
  /** Jobs that this process works on at once; 0 leaves them to other processes. */
  readonly workers: number;
  /** Webhooks that this process sends at once; 0 leaves them to other processes. */
  readonly webhookSlots: number;
  /**
   * Lets addresses of callers lead to this machine, over http or https and on any port. For development: a caller could
   * reach whatever listens on loopback.
   */
  readonly allowLoopback: boolean;
  /** How often a job or a validation is begun before it fails. */
  readonly attempts: number;
  /** Longest time from the first start of a job to its end, in ms. */
  readonly jobDeadlineMs: number;
}

/** Source: contract, "Credits" (price), "Jobs" (attempts); specification, "Limits" (concurrency). */
export const DEFAULT_CONFIG: ServiceConfig = {
  headerPrefix: DEFAULT_HEADER_PREFIX,
  publicOrigin: null,
  // Nobody bills the embedded service; this covers 400 videos of 15 minutes in several languages.
  openingCredits: 100_000,
  prices: {
    audio_separation: 1,
    subtitle_recognition: 1,
    subtitle_translation: 1,
    dubbing: 1,
    auto_localization: 1,
  },
  concurrentTasks: LIMITS.concurrentTasks,
  // 100 a second: far beyond what a client needs that polls 15 jobs, and low enough to bound the store of nonces.
  rate: { requests: 6000, windowSeconds: 60 },
  planEndsAt: null,
  // The engines keep a core busy each.
  workers: availableParallelism(),
  // As many receivers may take their whole 5 s before an event waits for another.
  webhookSlots: 8,
  allowLoopback: false,
  attempts: 3,
  // 15 minutes of video through engines that need 16 times real time.
  jobDeadlineMs: 4 * 60 * 60_000,
};
