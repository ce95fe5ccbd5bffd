/** The largest length and size of a part, and how much sound of its neighbours each part contains. */
import { LIMITS } from '../../protocol/limits.ts';

export interface SplitLimits {
  /** Parts of equal length have at most this many seconds. */
  readonly equalSeconds: number;
  /** No part is longer than this, wherever the cuts are made. */
  readonly mostSeconds: number;
  /** Exclusive. */
  readonly mostBytes: number;
}

/**
 * Limits for the service. Equal parts of 14:30 leave space to move a cut to a silence. 14:55 leaves space for encoder
 * padding below the 15 minutes. Source: specification, "Limits".
 */
export const SERVICE_SPLIT: SplitLimits = {
  equalSeconds: LIMITS.videoSeconds - 30,
  mostSeconds: LIMITS.videoSeconds - 5,
  mostBytes: LIMITS.videoBytes,
};

/** The properties of a video that decide the number of parts. */
export interface VideoSize {
  readonly durationSeconds: number;
  readonly bytes: number;
}

/** Bit rates vary, so parts are planned with this share of the largest size. */
const BYTES_SHARE = 0.85;

/** Returns the smallest number of equal parts within the limits; 1 if the whole video is within them. */
export function countParts(video: VideoSize, limits: SplitLimits): number {
  const fits = video.durationSeconds <= limits.mostSeconds && video.bytes < limits.mostBytes;
  if (fits) return 1;
  const byLength = Math.ceil(video.durationSeconds / limits.equalSeconds);
  const byBytes = Math.ceil(video.bytes / (limits.mostBytes * BYTES_SHARE));
  return Math.max(2, byLength, byBytes);
}

/**
 * Extra sound before a part, two AAC frames. The edit list hides it, like the encoder's own delay. One frame alone gave
 * no improvement.
 */
export const SAMPLES_BEFORE = 2_048;

/**
 * Extra sound after the last frame of the picture: two AAC frames that replace the first two frames of the next part
 * when parts are joined, because the service encodes those after silence; and two more for encoder delay.
 */
export const SAMPLES_BEHIND = 4_096;
