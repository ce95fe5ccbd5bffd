/** How long and how large parts may be, and how much sound of their neighbours they carry. */
import { LIMITS } from '../../protocol/limits.ts';

export interface SplitLimits {
  /** Equal parts are at most this long, in seconds. */
  readonly equalSeconds: number;
  /** No part is longer than this, wherever the cuts move. */
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

/** The properties of a video that decide the number of parts. */
export interface VideoSize {
  readonly durationSeconds: number;
  readonly bytes: number;
}

/** Bit rates vary, so a part is planned with this share of its largest size. */
const BYTES_SHARE = 0.85;

/** The smallest number of equal parts within the limits; 1 if the whole video is within them. */
export function countParts(video: VideoSize, limits: SplitLimits): number {
  const fits = video.durationSeconds <= limits.mostSeconds && video.bytes < limits.mostBytes;
  if (fits) return 1;
  const byLength = Math.ceil(video.durationSeconds / limits.equalSeconds);
  const byBytes = Math.ceil(video.bytes / (limits.mostBytes * BYTES_SHARE));
  return Math.max(2, byLength, byBytes);
}

/** In front, hidden by the edit list as the encoder's own delay is: two AAC frames; after one alone it was no better. */
export const SAMPLES_BEFORE = 2_048;

/**
 * Behind, heard after the last frame of the picture: two AAC frames that the joining takes, in place of the first two of the
 * next part, whose sound the service has re-encoded after silence; and two more for the encoders.
 */
export const SAMPLES_BEHIND = 4_096;
