/** How long a video is, by the header that it has: a first look, before the service measures it. */
import { tmpdir } from 'node:os';

/**
 * Seconds, or null for what cannot be told here: without ffprobe, or for a broken file, which the service tells better.
 * @param env where `PATH` says where programs are
 */
export function createDurationProbe(
  env: Readonly<Record<string, string | undefined>>,
): (path: string) => Promise<number | null> {
  return async (path) => {
    const [{ createPrograms }, { readHeader }, { declaredDuration }] = await Promise.all([
      import('../../engines/programs.ts'),
      import('../../engines/media/header.ts'),
      import('../../engines/media/duration.ts'),
    ]);
    const programs = createPrograms(env.PATH ?? '');
    const header = await readHeader(programs, path, {
      signal: new AbortController().signal,
      folder: tmpdir(),
    }).catch(() => null);
    const seconds = header === null ? 0 : declaredDuration(header);
    return seconds > 0 ? seconds : null;
  };
}
