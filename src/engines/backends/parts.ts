/** Dependencies of every backend. */
import type { Programs } from '../../media/programs/programs.ts';

export interface BackendParts {
  /** Runs programs of this machine. */
  readonly programs: Programs;
  /** Variables of the user, for keys and for programs of the user. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of the variables that hold keys of servers. Programs of the user do not receive them. Default: none. */
  readonly keyNames?: ReadonlySet<string>;
  /** Called with a remark for the user, at most once for each cause. */
  readonly warn: (message: string) => void;
  /** Tries of a request that fails in passing. Default: 11, over about a minute; 1 for a person who waits. */
  readonly tries?: number;
  /** The most that a call may take, in seconds, whatever the entry says. Default: no other limit. */
  readonly mostSeconds?: number;
  /** Waits. Rejects with the signal's reason if it is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}
