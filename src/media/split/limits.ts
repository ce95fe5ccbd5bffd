/** The largest length and size of a part, how much sound of its neighbours it contains, and the cost of splitting. */
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type MeteringUnit } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { describeUnits, quantityOf } from '../../protocol/metering.ts';

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

export interface SplitCost {
  readonly parts: number;
  readonly unit: MeteringUnit;
  /** Units of all parts together. */
  readonly units: number;
  /** Units if the file could be sent in one piece. */
  readonly unitsWhole: number;
}

/**
 * Returns the number of parts and started minutes of a video. Each part starts a new minute. Source: specification,
 * "Metering".
 */
export function videoSplitCost(kind: JobKind, video: VideoSize, limits: SplitLimits): SplitCost {
  const parts = countParts(video, limits);
  const minutes = (seconds: number) => quantityOf('started_minute', { seconds, lines: 0, characters: 0 });
  return {
    parts,
    unit: KINDS[kind].unit,
    units: parts * minutes(video.durationSeconds / parts),
    unitsWhole: minutes(video.durationSeconds),
  };
}

/** For example `--split would cut it into 3 parts, about 42 started minutes (2 more than in one piece)`. */
export function describeSplitCost({ parts, unit, units, unitsWhole }: SplitCost): string {
  const more = units - unitsWhole;
  const extra = more > 0 ? ` (${more} more than in one piece)` : '';
  return `--split would cut it into ${parts} parts, about ${describeUnits(units, unit)}${extra}`;
}
