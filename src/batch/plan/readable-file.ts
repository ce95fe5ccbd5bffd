import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';

/** Size in bytes and time of change of a file that can be read, or why it cannot. */
export async function statReadable(path: string): Promise<{ bytes: number; mtimeMs: number } | string> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return 'this is a folder; give the files in it, for example with *.mp4';
    if (!found.isFile()) return 'this is not a regular file';
    await access(path, constants.R_OK);
    return { bytes: found.size, mtimeMs: found.mtimeMs };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file; check the path';
    if (code === 'EACCES') return 'permission denied; check its permissions';
    if (code === 'ELOOP') return 'its links form a loop; name the file itself';
    if (code === 'ENAMETOOLONG') return 'the name is too long for this system; check the path';
    throw error;
  }
}
