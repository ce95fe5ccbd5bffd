/** Reads the cues of SRT and WebVTT files with row numbers, for checks. Also reads files that are too broken to be sent. */
import { vttText } from './read.ts';

export interface ScannedCue {
  /** Number of the cue, from 1. */
  readonly number: number;
  /** Row of the times in the file, from 1; null if the cue does not come from a file with rows. */
  readonly row: number | null;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
}

const TIME = String.raw`(\d{1,3}):(\d{1,2}):(\d{1,2})[,.](\d{1,3})`;
const TIMING = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s.*)?$`);

/** Longer rows are not subtitles and are not scanned, so that the cost of a hostile file depends only on its size. */
const LONGEST_ROW = 20_000;

/** Scans the rows in one pass: a cue ends before the number of the next cue. */
export function scanSrt(text: string): ScannedCue[] {
  const rows = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  const cues: ScannedCue[] = [];
  let open: { row: number; start: number; end: number; text: string[] } | null = null;
  const close = (isFollowed: boolean) => {
    if (open === null) return;
    const content = open.text;
    while (content.at(-1)?.trim() === '') content.pop();
    if (isFollowed && /^\s*\d+\s*$/.test(content.at(-1) ?? '')) content.pop();
    const text = content
      .map((row) => row.trim())
      .join('\n')
      .trim();
    cues.push({ number: cues.length + 1, row: open.row, start_ms: open.start, end_ms: open.end, text });
  };
  for (const [at, row] of rows.entries()) {
    const timing = row.length > LONGEST_ROW ? null : TIMING.exec(row);
    if (timing === null) {
      open?.text.push(row);
      continue;
    }
    close(true);
    open = { row: at + 1, start: milliseconds(timing, 1), end: milliseconds(timing, 5), text: [] };
  }
  close(false);
  return cues;
}

function milliseconds(timing: RegExpExecArray, at: number): number {
  const [hours = 0, minutes = 0, seconds = 0] = timing.slice(at, at + 3).map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number((timing[at + 3] ?? '').padEnd(3, '0'));
}

const VTT_TIME = String.raw`(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})`;
const VTT_TIMING = new RegExp(String.raw`^\s*${VTT_TIME}\s*-->\s*${VTT_TIME}(?:\s.*)?$`);
/** Longer rows cannot be times, so patterns are not tried on them. */
const LONGEST_VTT_ROW = 1_000;

/** Scans the rows in one pass: a cue ends at the next blank row after its times. Source: W3C, WebVTT, "Syntax". */
export function scanVtt(text: string): ScannedCue[] {
  const cues: ScannedCue[] = [];
  let open: { row: number; start: number; end: number; text: string[] } | null = null;
  const close = () => {
    if (open === null) return;
    const { row, start, end, text } = open;
    const content = vttText(text.map((each) => each.trim()).join('\n'));
    cues.push({ number: cues.length + 1, row, start_ms: start, end_ms: end, text: content });
    open = null;
  };
  for (const [at, row] of text.split(/\r\n|\r|\n/).entries()) {
    const timing = row.length > LONGEST_VTT_ROW ? null : VTT_TIMING.exec(row);
    if (timing !== null) {
      close();
      open = { row: at + 1, start: vttMilliseconds(timing, 1), end: vttMilliseconds(timing, 5), text: [] };
    } else if (row.trim() === '') close();
    else open?.text.push(row);
  }
  close();
  return cues;
}

function vttMilliseconds(timing: RegExpExecArray, at: number): number {
  const [hours, minutes, seconds] = [timing[at] ?? 0, timing[at + 1], timing[at + 2]].map(Number);
  const whole = ((hours ?? 0) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0);
  return whole * 1000 + Number((timing[at + 3] ?? '').padEnd(3, '0'));
}
