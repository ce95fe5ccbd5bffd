/** A line of a subtitle, its length, and the formats of subtitle files. */

/** One cue of a subtitle: `index` from 1, times in whole milliseconds, `start_ms < end_ms`, text may hold `\n`. */
export interface SubtitleLine {
  readonly index: number;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
}

/** The formats that subtitles are read and written in, by the ending of their names. The service itself speaks SRT. */
export const SUBTITLE_FORMATS = ['srt', 'vtt', 'ass'] as const;
export type SubtitleFormat = (typeof SUBTITLE_FORMATS)[number];

/**
 * True when a text has more characters (Unicode code points) than the limit.
 * A code point is one or two UTF-16 units, so most texts are decided by their length, without being taken apart.
 */
export function isLongerThan(limit: number, text: string): boolean {
  if (text.length <= limit) return false;
  return text.length > 2 * limit || [...text].length > limit;
}
