/** The oldest ffmpeg that works, and the check of the one that is installed. */
import type { EngineRun } from '../work.ts';
import type { Programs } from './programs.ts';

/**
 * The oldest ffmpeg that was tried and works. 4.4 and older refuse every video, because their ffprobe does not know the
 * section `stream_side_data`, which has the rotation; 4.3 also lacks `normalize` of `amix`, which the export needs.
 */
export const OLDEST_FFMPEG = '5.1';

/** Whether a version of ffmpeg is too old. Builds without a number, such as `N-109468`, are not judged. */
export function isTooOldFfmpeg(version: string): boolean {
  const [major, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_FFMPEG.split('.').map(Number);
  if (major === undefined || Number.isNaN(major)) return false;
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}

/** The version in the output of `ffmpeg -version`; null without one. It may have a letter before it or no number. */
export function readFfmpegVersion(output: string): string | null {
  return /^\w+ version n?(\d+(?:\.\d+)+|\S+)/m.exec(output)?.[1] ?? null;
}

/** Says what is wrong with an ffmpeg that is too old; null for others, and for one that is missing or broken. */
export async function describeOldFfmpeg(programs: Programs, run: EngineRun): Promise<string | null> {
  const path = programs.locate('ffmpeg');
  if (path === null) return null;
  // A broken one is reported by the work that needs it.
  const output = await programs.run(path, ['-version'], run).catch(() => null);
  run.signal.throwIfAborted();
  const version = output === null ? null : readFfmpegVersion(output.toString('utf8'));
  if (version === null || !isTooOldFfmpeg(version)) return null;
  return `${path} is ffmpeg ${version}, and the oldest that works is ${OLDEST_FFMPEG}`;
}

export const NEWER_FFMPEG = `Install ffmpeg ${OLDEST_FFMPEG} or later, and put it first in PATH.`;
