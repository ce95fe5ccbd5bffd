/** Everything a run takes from outside, handed in by the caller of `main`. */
import type { Readable, Writable } from 'node:stream';
import type { ClientOptions } from '../client/index.ts';
import type { watchFolder } from '../journal/folder-watch.ts';
import type { LongLimits } from './prepare/limits.ts';

/** A stream that may be a terminal; `columns` is its width in cells, `rows` its height. */
export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  /** Its errors are kept by whoever hands it in: nobody is left to tell. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The name of the operating system, as Node gives it. */
  readonly platform: NodeJS.Platform;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Clock, sleep and time limits of the client; left out: those of the system. */
  readonly pace?: Pick<ClientOptions, 'runtime' | 'timeouts'>;
  /** How long inputs may be before they must be split; left out: as long as the service takes them. */
  readonly limits?: LongLimits;
  /** How many milliseconds a check of `vloc doctor` may take; left out: 5 seconds. */
  readonly checkMs?: number;
  /** Waits until files come into a folder; left out: as the system tells. */
  readonly openWatch?: typeof watchFolder;
  /** Calls back on Ctrl-C and on SIGTERM; returns the call that stops it. */
  readonly onSignal: (listener: (signal: 'SIGINT' | 'SIGTERM') => void) => () => void;
  /** Leaves at once, for a second Ctrl-C: nothing more runs. */
  readonly abandon: (code: number) => void;
}
