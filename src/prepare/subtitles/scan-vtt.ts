/** Reads the cues of a WebVTT file with row numbers, for checks. */
import { vttText } from './read.ts';
import type { ScannedCue } from './scan.ts';

const TIME = String.raw`(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})`;
const TIMING = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s.*)?$`);
/** Longer rows cannot be times, so patterns are not tried on them. */
const LONGEST_ROW = 1_000;

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
    const timing = row.length > LONGEST_ROW ? null : TIMING.exec(row);
    if (timing !== null) {
      close();
      open = { row: at + 1, start: milliseconds(timing, 1), end: milliseconds(timing, 5), text: [] };
    } else if (row.trim() === '') close();
    else open?.text.push(row);
  }
  close();
  return cues;
}

function milliseconds(timing: RegExpExecArray, at: number): number {
  const [hours, minutes, seconds] = [timing[at] ?? 0, timing[at + 1], timing[at + 2]].map(Number);
  const whole = ((hours ?? 0) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0);
  return whole * 1000 + Number((timing[at + 3] ?? '').padEnd(3, '0'));
}
