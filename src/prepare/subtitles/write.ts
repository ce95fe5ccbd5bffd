/** Writes subtitles in the formats of players and editors. */
import { formatAss } from '../../engines/export/ass.ts';
import { formatSrt, formatTime, normalizeCueText } from '../../protocol/srt.ts';
import type { SubtitleFormat, SubtitleLine } from '../../protocol/subtitle-line.ts';

/** The picture that sizes in an ASS file refer to; players scale it to theirs. */
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

/** Source: W3C, WebVTT. Tags that SRT and WebVTT share stay; a lone `<` or `&` would begin one. */
function formatVtt(lines: readonly SubtitleLine[]): string {
  const cues = lines.map((line, position) => {
    const times = `${vttTime(line.start_ms)} --> ${vttTime(line.end_ms)}`;
    return `${position + 1}\n${times}\n${escapeVtt(normalizeCueText(line.text))}\n\n`;
  });
  return `WEBVTT\n\n${cues.join('')}`;
}

const vttTime = (milliseconds: number) => formatTime(milliseconds).replace(',', '.');

/** `<b>`, `<i>`, `<u>` and their ends, and characters named by the standard, are understood by WebVTT. */
const SHARED = /<\/?[biu]>|[&<]/g;

function escapeVtt(text: string): string {
  return text.replace(SHARED, (found) => ({ '&': '&amp;', '<': '&lt;' })[found] ?? found);
}
