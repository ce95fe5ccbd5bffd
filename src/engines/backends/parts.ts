/** Parts that backends share: their dependencies, paths of entries in `engines.json`, and permanent failures. */
import { join } from 'node:path';
import { homeFolder } from '../../base/home-folder.ts';
import type { Programs } from '../../media/programs/programs.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import type { ModelMemory } from './model-memory.ts';

/** Dependencies of every backend. */
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
  /** Memory for models. Default: that of this process. */
  readonly memory?: ModelMemory;
  /** Waits. Rejects with the signal's reason if it is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A failure that lasts until the configuration is changed. */
export function unusableEntryFailure(message: string, cause?: unknown): JobFailure {
  return new JobFailure('ENGINE_ERROR', message, { permanent: true, cause });
}

/** Expands `~` at the start of a path, as a shell would. */
export function expandHome(path: string, env: BackendParts['env']): string {
  if (path !== '~' && !path.startsWith('~/')) return path;
  return join(homeFolder(env), path.slice(1));
}
