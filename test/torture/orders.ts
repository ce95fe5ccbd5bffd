/** The messages between a service that is to be killed and the process that kills it. */
import type { Pace } from './light-engines.ts';

export interface Orders {
  readonly stateDir: string;
  readonly seed: number;
  /** How far the clock of the service is ahead of that of the machine. */
  readonly aheadMs: number;
  /** `real`: those of this machine. */
  readonly engines: Pace | 'real';
  /** Jobs that may be open at a time. */
  readonly openJobs: number;
  readonly workers: number;
  /** Share of the calls of the store that fail before they are carried out, and as many after; 0: none. */
  readonly faults: number;
}

export type Word =
  | {
      readonly type: 'ready';
      readonly pid: number;
      readonly url: string;
      readonly credentials: { readonly key: string; readonly secret: string };
    }
  | { readonly type: 'advanced' };
