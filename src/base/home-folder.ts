/** The home folder of the user, and folders that variables name. */
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { configurationFailure } from './failure.ts';

/**
 * The value of a variable that names a folder of the user; undefined for an empty or relative one, which would be another folder
 * in each working directory. Source: XDG Base Directory Specification.
 */
export function absolutePath(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined;
}

/**
 * The home folder by the environment, else by the system. Node's own follows a HOME that is empty.
 * @throws Failure (`configuration`) for a user whom the system does not know, such as a number that a container runs as
 */
export function homeFolder(env: Readonly<Record<string, string | undefined>>): string {
  try {
    return absolutePath(env.HOME) ?? absolutePath(homedir()) ?? userInfo().homedir;
  } catch (error) {
    throw configurationFailure(
      'HOME_UNKNOWN',
      'HOME is not set, and this user has no home folder',
      'Set HOME to an absolute path.',
      {},
      { cause: error },
    );
  }
}

/** Folder for what can be made again, `vloc` below the user's cache folder. @throws Failure (`configuration`) as `homeFolder` */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  const [given, below] =
    process.platform === 'win32' ? [env.LOCALAPPDATA, 'AppData/Local'] : [env.XDG_CACHE_HOME, '.cache'];
  return join(absolutePath(given) ?? join(homeFolder(env), below), 'vloc');
}
