/** Whether anybody else on this machine may read secrets or paid results. */
import { stat } from 'node:fs/promises';
import type { Result } from './finding.ts';

/** What group and others may do. */
const OTHERS = 0o077;

/**
 * Looks at folders that exist.
 * @param warnings what the readers of the files in them have said of their modes
 */
export async function judgePrivacy(
  folders: readonly string[],
  warnings: readonly string[],
  platform: NodeJS.Platform,
): Promise<Result> {
  // Windows has no such bits: Node shows 0666 for every file there.
  if (platform === 'win32') return { grade: 'ok', message: 'file modes are not checked on Windows' };
  const open = [...warnings];
  const fixes: string[] = [];
  for (const folder of folders) {
    const mode = await modeOf(folder);
    if (mode === null || (mode & OTHERS) === 0) continue;
    open.push(`${folder} is open to others (mode ${mode.toString(8)})`);
    fixes.push(`chmod 700 '${folder}'`);
  }
  if (open.length === 0) return { grade: 'ok', message: 'only you can read settings and results' };
  return {
    grade: 'warn',
    message: open.join('; '),
    ...(fixes.length === 0 ? {} : { fix: fixes.join('; ') }),
  };
}

async function modeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch {
    // The check of the disk reports a folder that cannot be reached.
    return null;
  }
}
