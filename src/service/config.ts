/** The settings of an operator, with the defaults of the embedded service. */
import { availableParallelism } from 'node:os';
import { DEFAULT_HEADER_PREFIX } from '../protocol/headers.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import { LIMITS } from '../protocol/limits.ts';

export interface ServiceConfig {
  /** Prefix of the names of the signature headers. */
  readonly headerPrefix: string;
  /** Scheme and host of URLs in answers, for a service behind a proxy; null: the address that it listens on. */
  readonly publicOrigin: string | null;
  /** Credits on the account when the state folder is created. */
  readonly openingCredits: number;
  /** Credits for one unit of each kind. */
  readonly prices: Readonly<Record<JobKind, number>>;
  /** Jobs that may be queued or processing concurrently, over all keys. */
  readonly concurrentTasks: number;
  /** Requests that one key may send in one window. Each process counts separately. */
  readonly rate: { readonly requests: number; readonly windowSeconds: number };
  /** When the plan of the workspace owner ends, in ms since 1970; null: never. */
  readonly planEndsAt: number | null;
  /** Jobs that this process runs concurrently; 0 leaves them to other processes. */
  readonly workers: number;
  /** Webhooks that this process sends concurrently; 0 leaves them to other processes. */
  readonly webhookSlots: number;
  /**
   * Allows URLs from callers to point to this machine, over http or https and on any port. For development only: a
   * caller could reach any service that listens on loopback.
   */
  readonly allowLoopback: boolean;
  /** How often a job or a validation is started before it fails. */
  readonly attempts: number;
  /** Longest time from the first start of a job to its end, in ms, without the time in which no service ran. */
  readonly jobDeadlineMs: number;
  /** Most bytes of the results of stages that are kept for other jobs; 0: each job computes all its stages. */
  readonly stageCacheBytes: number;
}

/** Source: contract, "Credits" (price), "Jobs" (attempts); specification, "Limits" (concurrency). */
export const DEFAULT_CONFIG: ServiceConfig = {
  headerPrefix: DEFAULT_HEADER_PREFIX,
  publicOrigin: null,
  // The embedded service is not billed. This is enough for 400 videos of 15 minutes in several languages.
  openingCredits: 100_000,
  prices: {
    audio_separation: 1,
    subtitle_recognition: 1,
    subtitle_translation: 1,
    dubbing: 1,
    auto_localization: 1,
  },
  concurrentTasks: LIMITS.concurrentTasks,
  // 100 per second: far more than a client needs to poll 15 jobs, and low enough to limit the store of nonces.
  rate: { requests: 6000, windowSeconds: 60 },
  planEndsAt: null,
  // Each engine keeps one core busy.
  workers: availableParallelism(),
  // This many receivers may take their full 5 s before another event must wait.
  webhookSlots: 8,
  allowLoopback: false,
  attempts: 3,
  // 15 minutes of video with engines that take 16 times real time.
  jobDeadlineMs: 4 * 60 * 60_000,
  // The stages of ten videos of 15 minutes, which take 375 MB each.
  stageCacheBytes: 4 * 1024 ** 3,
};
