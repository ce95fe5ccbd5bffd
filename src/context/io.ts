/** Everything a run takes from outside, handed in by the caller of `main`. */
import type { Readable, Writable } from 'node:stream';
import type { ClientOptions } from '../client/index.ts';
import type { watchFolder } from '../journal/folder-watch.ts';
import type { LongLimits } from './long-limits.ts';

/** A stream that may be a terminal; `columns` is its width in cells, `rows` its height. */
export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  /** The caller handles its errors: there is no other stream to report them on. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The name of the operating system, as Node gives it. */
  readonly platform: NodeJS.Platform;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Clock, sleep and time limits of the client; omitted: those of the system. */
  readonly pace?: Pick<ClientOptions, 'runtime' | 'timeouts'>;
  /** How long inputs may be before they must be split; omitted: the limits of the service. */
  readonly limits?: LongLimits;
  /** How many milliseconds a check of `vloc doctor` may take; omitted: 5 seconds. */
  readonly checkMs?: number;
  /** Waits until files come into a folder; omitted: the file watcher of the system. */
  readonly openWatch?: typeof watchFolder;
  /** Calls back on Ctrl-C and on SIGTERM; returns the call that stops it. */
  readonly onSignal: (listener: (signal: 'SIGINT' | 'SIGTERM') => void) => () => void;
  /** Leaves at once, for a second Ctrl-C: nothing more runs. */
  readonly abandon: (code: number) => void;
}
