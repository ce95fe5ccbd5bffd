/** A line of a subtitle, its length, and the formats of subtitle files. */

/**
 * One cue of a subtitle. `index` starts at 1, times are whole milliseconds, `start_ms < end_ms`, and text may contain
 * `\n`.
 */
export interface SubtitleLine {
  readonly index: number;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
}

/** The subtitle formats that can be read and written, with their file extensions. The service itself uses SRT. */
export const SUBTITLE_FORMATS = ['srt', 'vtt', 'ass'] as const;
export type SubtitleFormat = (typeof SUBTITLE_FORMATS)[number];

/**
 * Returns true if a text has more characters (Unicode code points) than the limit. A code point has one or two UTF-16
 * units, so for most texts the length is enough and the characters are not counted.
 */
export function isLongerThan(limit: number, text: string): boolean {
  if (text.length <= limit) return false;
  return text.length > 2 * limit || [...text].length > limit;
}
