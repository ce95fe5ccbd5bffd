/** The content of a folder after a run. */
import { existsSync, readdirSync } from 'node:fs';
import { ffprobe } from '../../engines/workspace.ts';

/** Seconds that a media file lasts. */
export function lasts(path: string): number {
  return Number(ffprobe(path, 'format=duration'));
}

/** Names of the files below a folder; none where there is no folder. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}
