/** Where configuration and state of a user lie. Source: XDG Base Directory Specification; on Windows its counterparts. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Environment, readVariable } from './environment.ts';

/** The home folder by the environment, else by the system. */
export function homeFolder(env: Environment): string {
  return env.HOME ?? homedir();
}

/** Folder of the profiles: VLOC_CONFIG_DIR, else `vloc` below the user's configuration folder. */
export function configFolder(env: Environment, platform: NodeJS.Platform): string {
  const chosen = readVariable(env, 'VLOC_CONFIG_DIR');
  if (chosen !== undefined) return chosen;
  const home = homeFolder(env);
  if (platform === 'win32') return join(env.APPDATA ?? join(home, 'AppData', 'Roaming'), 'vloc');
  return join(absolute(env.XDG_CONFIG_HOME) ?? join(home, '.config'), 'vloc');
}

/** Folder of the embedded service: VLOC_STATE_DIR, else `vloc` below the user's state folder. */
export function stateFolder(env: Environment, platform: NodeJS.Platform): string {
  const chosen = readVariable(env, 'VLOC_STATE_DIR');
  if (chosen !== undefined) return chosen;
  const home = homeFolder(env);
  if (platform === 'win32') return join(env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), 'vloc');
  return join(absolute(env.XDG_STATE_HOME) ?? join(home, '.local', 'state'), 'vloc');
}

/** XDG asks for absolute paths only: a relative one would mean another folder in each working directory. */
function absolute(path: string | undefined): string | null {
  return path?.startsWith('/') === true ? path : null;
}
