import { access } from 'node:fs/promises';

/** Whether there is something at the path, of whatever kind. */
export async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
