/** One recognized word; times in seconds from the start of the video. */
export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Position of the stretch of speech it was heard in: a cue does not reach over two of them without need. */
  readonly segment: number;
}
