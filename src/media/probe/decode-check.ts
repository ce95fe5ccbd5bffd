/** Decodes a video without output, to check whether it can be decoded. */

import { together } from '../../base/together.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { DECODER_LIMITS, QUIET, untrustedInput } from '../programs/arguments.ts';
import { ChildFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { MediaHeader } from './header.ts';

/**
 * Up to this many pixels, every frame is decoded, which takes about five seconds on two cores: 15 minutes of 360p, 100
 * s of 1080p. Above it, only key frames are decoded, because 15 minutes of 1080p would take a minute or more. Damage
 * between two key frames is then visible as artefacts in the result, as it is in the original.
 */
const EVERY_FRAME_PIXELS = 6e9;

/**
 * The share of undecodable frames that is accepted: players hide a few broken frames, which are common in recordings.
 * Above this share ffmpeg exits with `TOO_MANY_ERRORS`.
 */
export const FEW_ERRORS = ['-max_error_rate', '0.02'] as const;

/** The exit code of ffmpeg when the error rate is exceeded. */
export const TOO_MANY_ERRORS = 69;

/** Threads per decoder. Two streams are decoded concurrently, and the service does other work. */
const THREADS = '2';

/**
 * Decodes all sound and the pictures (all pictures, or only the key frames of large videos).
 * @param duration seconds of the video
 * @throws JobFailure MEDIA_CORRUPT if more than one frame in fifty cannot be decoded
 */
export async function checkDecodes(
  programs: Programs,
  file: string,
  media: { header: MediaHeader; duration: number },
  run: { signal: AbortSignal; folder: string },
): Promise<void> {
  const { header, duration } = media;
  const frameRate = ratio(header.video?.avg_frame_rate) || 25; // the rate of television if none is declared
  const pixels = (header.video?.width ?? 0) * (header.video?.height ?? 0) * frameRate * duration;
  const frames = pixels > EVERY_FRAME_PIXELS ? ['-skip_frame', 'nokey'] : [];
  const decode =
    (stream: '0:a:0' | '0:V:0', what: string, options: readonly string[]) => (signal: AbortSignal) =>
      programs
        .run('ffmpeg', decodeArguments(file, stream, options), { ...run, signal, limits: DECODER_LIMITS })
        .catch((error: unknown) => {
          if (!(error instanceof ChildFailure)) throw error;
          throw new JobFailure('MEDIA_CORRUPT', `the ${what} of the video cannot be decoded`, {
            cause: error,
          });
        });
  await together(run.signal, [decode('0:a:0', 'sound', []), decode('0:V:0', 'picture', frames)]);
}

function decodeArguments(file: string, stream: string, options: readonly string[]): string[] {
  const input = untrustedInput(file, ['-threads', THREADS, ...options]);
  return [...QUIET, ...FEW_ERRORS, ...input, '-map', stream, '-f', 'null', '-'];
}

/** Parses a fraction of ffprobe: `30000/1001` returns 29.97. Returns 0 for `0/0` and for invalid text. */
export function ratio(text: string | undefined): number {
  const [above, below] = (text ?? '').split('/').map(Number);
  const value = (above ?? 0) / (below ?? 1);
  return Number.isFinite(value) ? value : 0;
}
