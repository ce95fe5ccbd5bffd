/** How long inputs may be before they must be split; handed in, so that a test need not make hours of video. */
import type { SplitLimits } from '../prepare/split/limits.ts';

export interface LongLimits {
  /** Longest video that is sent whole, in seconds. */
  readonly seconds: number;
  /** Exclusive. */
  readonly bytes: number;
  /** Most lines of subtitles that are sent whole. */
  readonly lines: number;
  /** What parts of videos keep to. */
  readonly parts: SplitLimits;
}

/** Those of the service. Source: specification, "Limits". */
export async function serviceLimits(): Promise<LongLimits> {
  const [{ SERVICE_SPLIT }, { LIMITS }] = await Promise.all([
    import('../prepare/split/limits.ts'),
    import('../protocol/limits.ts'),
  ]);
  const { videoSeconds: seconds, videoBytes: bytes, subtitleLines: lines } = LIMITS;
  return { seconds, bytes, lines, parts: SERVICE_SPLIT };
}
