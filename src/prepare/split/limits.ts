/** How long and how large parts may be. */
import { LIMITS } from '../../protocol/limits.ts';

export interface SplitLimits {
  /** Equal parts are at most this long, in seconds. */
  readonly equalSeconds: number;
  /** No part is longer than this, wherever its ends move to. */
  readonly mostSeconds: number;
  /** Exclusive. */
  readonly mostBytes: number;
}

/**
 * Limits for the service: equal parts of 14:30 leave the cuts room to move to a silence, and 14:55 leaves room for the
 * padding of an encoder below the 15 minutes. Source: specification, "Limits".
 */
export const SERVICE_SPLIT: SplitLimits = {
  equalSeconds: LIMITS.videoSeconds - 30,
  mostSeconds: LIMITS.videoSeconds - 5,
  mostBytes: LIMITS.videoBytes,
};

/** What decides how many parts a video is cut into. */
export interface VideoSize {
  readonly durationSeconds: number;
  readonly bytes: number;
}

/** Bit rates vary: a part is planned with this share of the bytes that it may have. */
const BYTES_SHARE = 0.85;

/** The least number of parts of equal length that keep the limits; 1 when the video keeps them as it is. */
export function countParts(video: VideoSize, limits: SplitLimits): number {
  const fits = video.durationSeconds <= limits.mostSeconds && video.bytes < limits.mostBytes;
  if (fits) return 1;
  const byLength = Math.ceil(video.durationSeconds / limits.equalSeconds);
  const byBytes = Math.ceil(video.bytes / (limits.mostBytes * BYTES_SHARE));
  return Math.max(2, byLength, byBytes);
}
