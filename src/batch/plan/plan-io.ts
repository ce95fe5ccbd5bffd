import type { Readable } from 'node:stream';

/** What a plan takes from outside. */
export interface PlanIo {
  readonly cwd: string;
  readonly stdin: Readable;
  /** Length of a video in seconds, null when nothing here can measure it. */
  readonly probeDuration: (path: string) => Promise<number | null>;
  /** Bytes that are free for a file in the folder, null when the system does not tell. */
  readonly freeBytes: (folder: string) => Promise<number | null>;
}
