/** Finds out whether uploaded bytes are what they should be. Source: contract, "Uploads" (validation). */
import { readFile } from 'node:fs/promises';
import type { Engines } from '../../engines/engine.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Media } from '../../protocol/media.ts';
import { decodeSrt, SubtitleError } from '../../protocol/srt.ts';
import { countCharacters } from '../jobs/metering.ts';
import type { SubtitleFacts } from './rows.ts';

export type Finding =
  | { readonly status: 'ready'; readonly media: Media | null; readonly subtitle: SubtitleFacts | null }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

/** Measures and decodes a video; throws what is not the file's fault. */
export async function inspectVideo(engines: Engines, path: string, signal: AbortSignal): Promise<Finding> {
  try {
    const media = await engines.inspect(path, signal);
    requireUsable(media);
    return { status: 'ready', media, subtitle: null };
  } catch (error) {
    // What a second try could mend is the service's fault, not the file's.
    if (!(error instanceof JobFailure) || error.retryable) throw error;
    return { status: 'failed', code: 'MEDIA_VALIDATION_FAILED', message: error.message };
  }
}

/** Throws JobFailure for a video that no job may work on: the limits hold whatever engine measured the file. */
export function requireUsable(media: Media): void {
  if (media.video === null) throw new JobFailure('MEDIA_UNSUPPORTED', 'the file has no picture');
  if (media.audio === null) throw new JobFailure('NO_AUDIO_STREAM', 'the file has no sound');
  const { duration_seconds: seconds } = media;
  // To the millisecond, as containers count: 900.000 s pass, 900.001 s do not.
  const milliseconds = Math.round(seconds * 1000);
  if (milliseconds <= 0 || milliseconds > LIMITS.videoSeconds * 1000) {
    throw new JobFailure(
      'DURATION_EXCEEDED',
      `the video lasts ${seconds} s; at most ${LIMITS.videoSeconds} s are allowed`,
    );
  }
}

/** Reads a subtitle file, which is under 10 MiB by its reservation. */
export async function inspectSubtitle(path: string): Promise<Finding> {
  const bytes = await readFile(path);
  try {
    const lines = decodeSrt(bytes);
    const endMs = lines.reduce((latest, line) => Math.max(latest, line.end_ms), 0);
    const characters = countCharacters(lines);
    return {
      status: 'ready',
      media: null,
      subtitle: { lines: lines.length, duration_seconds: endMs / 1000, characters },
    };
  } catch (error) {
    if (!(error instanceof SubtitleError)) throw error;
    return { status: 'failed', code: 'SUBTITLE_VALIDATION_FAILED', message: error.message };
  }
}
