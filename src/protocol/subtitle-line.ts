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

/** The place of a cue in messages: `talk.es.srt, cue 12`. */
export function nameCue(file: string, cue: number): string {
  return `${file}, cue ${cue}`;
}

/** The place of a row of a file: `talk.es.srt:340`, the form that editors open. @param row null for the whole file */
export function nameRow(file: string, row: number | null): string {
  return row === null ? file : `${file}:${row}`;
}

/** A line and who speaks it. Requests have no place for the name. */
export interface SpokenLine extends SubtitleLine {
  readonly speaker?: string;
}

/** Who speaks each line of a list; undefined if nobody is named. Empty if no line names anyone. */
export type Speakers = readonly (string | undefined)[];

/** The name of a speaker on one row; undefined if nothing is left of it. */
export function cleanSpeaker(name: string): string | undefined {
  return name.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim() || undefined;
}

/** Splits spoken lines into what is sent and the names. */
export function withoutSpeakers(spoken: readonly SpokenLine[]): {
  readonly lines: SubtitleLine[];
  readonly speakers: Speakers;
} {
  const speakers = spoken.map(({ speaker }) => speaker);
  const lines = spoken.map(({ speaker: _, ...line }) => line);
  return { lines, speakers: speakers.every((speaker) => speaker === undefined) ? [] : speakers };
}

/** The lines with the speakers of `withoutSpeakers`. */
export function withSpeakers(lines: readonly SubtitleLine[], speakers: Speakers): SpokenLine[] {
  return lines.map((line, at) => {
    const speaker = speakers[at];
    return speaker === undefined ? line : { ...line, speaker };
  });
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
