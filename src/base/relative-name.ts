/** Names of files below a folder, the same on all systems. */
import { isAbsolute, relative, sep } from 'node:path';

/** The path relative to a folder, `/` between folders; null for a path outside it. */
export function nameBelow(folder: string, path: string): string | null {
  const way = relative(folder, path);
  const isInside = way !== '' && !isAbsolute(way) && way.split(sep)[0] !== '..';
  return isInside ? slashed(way) : null;
}

/** The path with `/` between folders, whatever the system uses. */
export function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
