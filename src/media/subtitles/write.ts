/** Writes subtitles in the formats of players and editors. */

import { formatSrt, formatTime, normalizeCueText } from '../../protocol/srt.ts';
import type { SubtitleFormat, SubtitleLine } from '../../protocol/subtitle-line.ts';
import { formatAss } from '../export/ass.ts';

/** The picture size that sizes in an ASS file refer to. Players scale it to their own. */
const ASS_PICTURE = { width: 1920, height: 1080 } as const;

const WRITERS: Record<SubtitleFormat, (lines: readonly SubtitleLine[]) => string> = {
  srt: formatSrt,
  vtt: formatVtt,
  ass: (lines) => formatAss(lines, ASS_PICTURE),
};

/** Formats a whole file, numbered from 1. ASS keeps hundredths of a second and no markup. */
export function writeSubtitle(lines: readonly SubtitleLine[], format: SubtitleFormat): string {
  return WRITERS[format](lines);
}

/**
 * Source: W3C, WebVTT. Tags that SRT and WebVTT share are kept. A single `<` or `&` is escaped, because it would begin
 * a tag or an entity.
 */
function formatVtt(lines: readonly SubtitleLine[]): string {
  const cues = lines.map((line, position) => {
    const times = `${vttTime(line.start_ms)} --> ${vttTime(line.end_ms)}`;
    return `${position + 1}\n${times}\n${escapeVtt(normalizeCueText(line.text))}\n\n`;
  });
  return `WEBVTT\n\n${cues.join('')}`;
}

const vttTime = (milliseconds: number) => formatTime(milliseconds).replace(',', '.');

/** WebVTT supports `<b>`, `<i>`, `<u>`, their end tags, and the characters with standard names. */
const SHARED = /<\/?[biu]>|[&<]/g;

function escapeVtt(text: string): string {
  return text.replace(SHARED, (found) => ({ '&': '&amp;', '<': '&lt;' })[found] ?? found);
}
