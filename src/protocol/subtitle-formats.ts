/** The formats that subtitles are read and written in, by the ending of their names. The service itself speaks SRT. */
export const SUBTITLE_FORMATS = ['srt', 'vtt', 'ass'] as const;
export type SubtitleFormat = (typeof SUBTITLE_FORMATS)[number];
