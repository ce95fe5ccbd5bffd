/** Reads the dialogue of an ASS or SSA file with row numbers, for checks. */
import { plainAssText } from './ass-text.ts';
import type { ScannedCue } from './scan.ts';

/** The columns of every version 4+ file. Source: Aegisub manual, "ASS file format". */
const COLUMNS = ['layer', 'start', 'end', 'style', 'name', 'marginl', 'marginr', 'marginv', 'effect', 'text'];
const TIME = /^\s*(\d{1,3}):(\d{1,2}):(\d{1,2})(?:[.:](\d{1,3}))?\s*$/;

/** The reader refuses longer rows, so they are not scanned. */
const LONGEST_ROW = 20_000;

/** Returns the cues in order of time, because the rows of a file may be in any order. */
export function scanAss(text: string): ScannedCue[] {
  let columns: readonly string[] = COLUMNS;
  let isEvents = false;
  const cues: Omit<ScannedCue, 'number'>[] = [];
  for (const [at, row] of text.split(/\r\n|\r|\n/).entries()) {
    if (row.length > LONGEST_ROW) continue;
    if (/^\s*\[/.test(row)) isEvents = /^\s*\[Events\]/i.test(row);
    if (!isEvents) continue;
    const format = /^\s*Format\s{0,8}:(.*)/i.exec(row)?.[1];
    if (format !== undefined) columns = format.split(',').map((name) => name.trim().toLowerCase());
    const dialogue = /^\s*Dialogue\s{0,8}:(.*)/i.exec(row)?.[1];
    if (dialogue === undefined) continue;
    const cells = splitCells(dialogue, columns.length);
    const cell = (name: string) => cells[columns.indexOf(name)] ?? '';
    const [start, end] = [readTime(cell('start')), readTime(cell('end'))];
    const content = plainAssText(cell('text')).trim();
    if (start !== null && end !== null)
      cues.push({ row: at + 1, start_ms: start, end_ms: end, text: content });
  }
  return cues
    .sort((left, right) => left.start_ms - right.start_ms)
    .map((cue, position) => ({ number: position + 1, ...cue }));
}

/** The last column is the text, which may contain commas. */
function splitCells(row: string, count: number): string[] {
  const cells = row.split(',');
  return [...cells.slice(0, count - 1), cells.slice(count - 1).join(',')];
}

function readTime(written: string): number | null {
  const time = TIME.exec(written);
  if (time === null) return null;
  const [hours = 0, minutes = 0, seconds = 0] = time.slice(1, 4).map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number((time[4] ?? '').padEnd(3, '0'));
}
