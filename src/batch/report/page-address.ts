/** How the page points at files beside it. */
import { isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The address of a file as a page in `folder` must write it: relative, so that folder and page can be moved together,
 * every part percent-encoded, and never read as anything but a file, whatever its name.
 */
export function pageAddress(folder: string, file: string): string {
  const path = relative(folder, file);
  // Another drive of Windows has no relative path.
  if (isAbsolute(path)) return pathToFileURL(file).href;
  return `./${path.split(sep).map(encodeURIComponent).join('/')}`;
}
