/** Isolates a test process from the user's own configuration, state and keys before the first test is loaded. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';

/** User settings that would send a test to a paid service, or into a folder with paid results. */
const SETTINGS = ['PROFILE', 'BASE_URL', 'KEY', 'SECRET', 'HEADER_PREFIX', 'WEBHOOK_SECRET'];

const home = mkdtempSync(join(inject('runFolder'), 'process-'));
const folder = (name: string) => {
  const path = join(home, name);
  mkdirSync(path, { mode: 0o700 });
  return path;
};

// Tests that install the packed tool use the npm cache of this checkout.
process.env.npm_config_cache ??= join(homedir(), '.npm');
for (const name of SETTINGS) delete process.env[`VLOC_${name}`];
// A run on a build server must name its service. Tests of that set the variable themselves.
delete process.env.CI;
Object.assign(process.env, {
  HOME: home,
  XDG_CONFIG_HOME: folder('config'),
  XDG_STATE_HOME: folder('state'),
  XDG_DATA_HOME: folder('data'),
  XDG_CACHE_HOME: folder('cache'),
  TMPDIR: folder('tmp'),
  VLOC_CONFIG_DIR: join(home, 'config', 'vloc'),
  VLOC_STATE_DIR: join(home, 'state', 'vloc'),
});
