/** What entries of `engines.json` have in common: paths below the home folder, and mistakes that last. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { JobFailure } from '../../protocol/job-failure.ts';
import type { BackendParts } from './parts.ts';

/** A failure that lasts until the configuration is changed. */
export function unusableEntryFailure(message: string, cause?: unknown): JobFailure {
  return new JobFailure('ENGINE_ERROR', message, { permanent: true, cause });
}

/** Expands `~` at the start of a path, as a shell would. */
export function expandHome(path: string, env: BackendParts['env']): string {
  if (path !== '~' && !path.startsWith('~/')) return path;
  return join(env.HOME ?? homedir(), path.slice(1));
}
