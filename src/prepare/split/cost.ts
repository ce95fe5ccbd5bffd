/** The cost of splitting, shown before anything is cut or sent. */
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type MeteringUnit } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { describeUnits, quantityOf } from '../../protocol/metering.ts';
import { countParts, SERVICE_SPLIT, type SplitLimits, type VideoSize } from './limits.ts';

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
export function videoSplitCost(
  kind: JobKind,
  video: VideoSize,
  limits: SplitLimits = SERVICE_SPLIT,
): SplitCost {
  const parts = countParts(video, limits);
  const minutes = (seconds: number) => quantityOf('started_minute', { seconds, lines: 0, characters: 0 });
  return {
    parts,
    unit: KINDS[kind].unit,
    units: parts * minutes(video.durationSeconds / parts),
    unitsWhole: minutes(video.durationSeconds),
  };
}

/** Returns the number of parts and lines of a subtitle. Splitting costs nothing extra, because each line is counted. */
export function subtitleSplitCost(lines: number, mostLines: number = LIMITS.subtitleLines): SplitCost {
  return { parts: Math.ceil(lines / mostLines), unit: 'line', units: lines, unitsWhole: lines };
}

/** For example `--split would cut it into 3 parts, about 42 started minutes (2 more than in one piece)`. */
export function describeSplitCost({ parts, unit, units, unitsWhole }: SplitCost): string {
  const more = units - unitsWhole;
  const extra = more > 0 ? ` (${more} more than in one piece)` : '';
  return `--split would cut it into ${parts} parts, about ${describeUnits(units, unit)}${extra}`;
}
