/** Where a folder of results keeps its own record. */
import { join } from 'node:path';

/** Beside the results, so that it goes where they go: where it stands, there are results. */
export const RECORD_FOLDER = '.vloc';

/** Where the journal of a folder of results lies. */
export function journalPath(folder: string): string {
  return join(folder, RECORD_FOLDER, 'journal');
}

/** Held by the only process that works in the folder. */
export function lockPath(folder: string): string {
  return join(folder, RECORD_FOLDER, 'lock');
}
