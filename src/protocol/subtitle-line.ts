/** One cue of a subtitle: `index` from 1, times in whole milliseconds, `start_ms < end_ms`, text may hold `\n`. */
export interface SubtitleLine {
  readonly index: number;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
}
