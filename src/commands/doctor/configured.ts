/** Which service a run is configured for, without fetching a secret: the one place that asks the profiles for it. */

import type { Context } from '../../context/context.ts';
import { resolveSettings } from '../../profiles/layers.ts';
import { readSources } from '../../profiles/resolve.ts';
import type { Settings } from '../../profiles/settings.ts';

/**
 * Reads project file, profiles and environment.
 * @param warn called for files that others may read
 * @throws Failure (`configuration`) for a file or a combination that cannot be used
 */
export async function readSettings(context: Context, warn: (text: string) => void): Promise<Settings> {
  const { io, service: flags } = context;
  const { env, platform, cwd } = io;
  return resolveSettings(await readSources({ flags, env, platform, cwd, warn }));
}
