/** Subtitles as structured lines and as SRT. */
import type { ServiceUnderTest, UploadFile } from '../service.ts';

export interface Line {
  readonly index: number;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
}

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  en: ['Good morning, everybody.', 'The house is very old.'],
  es: ['Buenos días a todos.', 'La casa es muy antigua.'],
};

/** Returns subtitle lines of two seconds each, one after the other. */
export function linesOf(texts: readonly string[]): Line[] {
  return texts.map((text, at) => ({ index: at + 1, start_ms: at * 2000, end_ms: at * 2000 + 1500, text }));
}

/** Returns two lines in the language; in English if there is no text in that language. */
export function linesIn(language: string): Line[] {
  return linesOf(TEXTS[language] ?? TEXTS.en ?? []);
}

const pad = (value: number, width: number) => String(value).padStart(width, '0');

function formatTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${clock.map((part) => pad(part, 2)).join(':')},${pad(ms % 1000, 3)}`;
}

/** Returns SRT with the numbers of the lines and one blank line between two of them. */
export function formatSrt(lines: readonly Line[]): string {
  return lines
    .map(
      (line) => `${line.index}\n${formatTime(line.start_ms)} --> ${formatTime(line.end_ms)}\n${line.text}\n`,
    )
    .join('\n');
}

/** Parses SRT as other programs write it: CRLF, a byte order mark, wrong numbers. Drops empty blocks. */
export function parseSrt(text: string): Omit<Line, 'index'>[] {
  const blocks = text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .trim()
    .split(/\n{2,}/);
  return blocks.map((block) => {
    const rows = block.split('\n');
    const timing = rows.findIndex((row) => row.includes('-->'));
    const [start = '', end = ''] = (rows[timing] ?? '').split('-->');
    return { start_ms: parseTime(start), end_ms: parseTime(end), text: rows.slice(timing + 1).join('\n') };
  });
}

function parseTime(text: string): number {
  const [hours = '', minutes = '', seconds = ''] = text.trim().split(':');
  return Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds.replace(',', '.'))) * 1000);
}

/** Returns these bytes as a subtitle file, valid or not. */
export function subtitleFile(bytes: Buffer | string, name = 'lines.srt'): UploadFile {
  return { purpose: 'subtitle_file', name, contentType: 'application/x-subrip', bytes: Buffer.from(bytes) };
}

/** Returns a subtitle file that any service accepts. */
export function goodSubtitleFile({ languages }: ServiceUnderTest): UploadFile {
  return subtitleFile(formatSrt(linesIn(languages.source)));
}
