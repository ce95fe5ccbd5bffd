/** The rows of a review table: what they show, where their texts are, and how a spreadsheet keeps them as they are. Pure. */
import * as v from 'valibot';
import type { Table } from '../../base/read-table.ts';
import { shortDigest } from '../../batch/short-digest.ts';
import { formatTime, normalizeCueText } from '../../protocol/srt.ts';

/** A text of a row in its file, as it was when the table was written. */
export interface TextPlace {
  /** As it was written in the table: relative to the folder of the export. */
  readonly file: string;
  /** Number of the cue, from 1. */
  readonly cue: number;
  readonly start_ms: number;
  readonly end_ms: number;
  /** Digest of its text. */
  readonly text: string;
}

/** The texts of a row by language; that of the source is under `SOURCE`. */
type TextPlaces = ReadonlyMap<string, TextPlace>;

export const SOURCE = 'source';

/** A cue in all languages. */
export interface ReviewRow {
  readonly places: TextPlaces;
  readonly texts: ReadonlyMap<string, string>;
  readonly speaker: string;
  readonly reasons: readonly string[];
}

/** The column that import reads; people leave it alone. */
const PLACES = 'vloc';

/** No path has a NUL. */
const Path = v.pipe(v.string(), v.regex(/^[^\0]+$/));
const Places = v.record(v.string(), v.tuple([Path, v.number(), v.number(), v.number(), v.string()]));

/** The digest by which a changed text is known. */
export function digestText(text: string): string {
  return shortDigest(normalizeCueText(text));
}

/** Table of titles and texts. */
export function writeRows(rows: readonly ReviewRow[], languages: readonly string[]): string[][] {
  const titles = [
    'file',
    'cue',
    'start',
    'end',
    'speaker',
    SOURCE,
    ...languages,
    'reasons',
    'comment',
    PLACES,
  ];
  return [
    titles,
    ...rows.map(({ places, texts, speaker, reasons }) => {
      const { file, cue, start, end } = shownCells(places);
      const cells = [SOURCE, ...languages].map((role) => texts.get(role) ?? '');
      const kept = [...places].map(([role, { file, cue, start_ms, end_ms, text }]) => [
        role,
        [file, cue, start_ms, end_ms, text],
      ]);
      const [first, ...others] = [file, speaker, ...cells, reasons.join('\n')].map(protectText);
      return [first ?? '', cue, start, end, ...others, '', JSON.stringify(Object.fromEntries(kept))];
    }),
  ];
}

/** What a row shows of its first text: of the source, if there is one. */
function shownCells(places: TextPlaces) {
  const [{ file = '', cue = 0, start_ms = 0, end_ms = 0 } = {}] = places.values();
  return { file, cue: String(cue), start: formatTime(start_ms), end: formatTime(end_ms) };
}

/** Texts that spreadsheets take for formulas, and the apostrophe that says that they are none. */
const FORMULA = /^[=+\-@\t\r'\uFF1D\uFF0B\uFF0D\uFF20]/;
/** Longer texts are not taken for numbers, dates or times, such as `30 September 2026`; nor are those with more words. */
const LONGEST_NUMBER = 20;
const MOST_WORDS = 2;

function needsProtection(text: string): boolean {
  if (FORMULA.test(text)) return true;
  const words = text.match(/\p{L}+/gu) ?? [];
  return text.length <= LONGEST_NUMBER && words.length <= MOST_WORDS && /\d/.test(text);
}

/** Writes an apostrophe before a text that a spreadsheet would change. */
export function protectText(text: string): string {
  return needsProtection(text) ? `'${text}` : text;
}

/** Undoes `protectText`, and leaves an apostrophe that somebody has written. */
export function unprotectText(cell: string): string {
  const text = cell.slice(1);
  return cell.startsWith("'") && needsProtection(text) ? text : cell;
}

/** A row of an edited table. */
export interface EditedRow {
  /** In the table, from 1; the titles are the first. */
  readonly row: number;
  readonly places: TextPlaces;
  /** By language; those whose column was removed are missing. */
  readonly texts: ReadonlyMap<string, string>;
  /** Why it cannot be imported; null if it can. */
  readonly problem: string | null;
}

interface EditedTable {
  readonly rows: readonly EditedRow[];
  /** The languages of the export that have no column. */
  readonly lost: readonly string[];
}

/** @returns why the table cannot be imported, a sentence for each reason */
export function readRows(table: Table): EditedTable | readonly string[] {
  const problems: string[] = [];
  const titles = new Map<string, string>();
  for (const title of table.titles) {
    const key = title.trim().toLowerCase();
    if (key !== '' && titles.has(key)) problems.push(`the column "${title}" appears twice`);
    titles.set(key, title);
  }
  if (!titles.has(PLACES)) problems.push(`the column "${PLACES}" is missing: it says where each text is`);
  if (problems.length > 0) return problems;
  const cellsOf = (cells: Table['rows'][number]) => (name: string) => {
    const title = titles.get(name.toLowerCase());
    return title === undefined ? null : unprotectText(String(cells[title] ?? ''));
  };
  const found = table.rows.map((cells, at) => {
    const cell = cellsOf(cells);
    return { row: at + 2, cell, places: readPlaces(cell(PLACES) ?? '') };
  });
  const languages = new Set(found.flatMap(({ places }) => [...(places?.keys() ?? [])]));
  languages.delete(SOURCE);
  const seen = new Map<string, number>();
  const rows = found.flatMap(({ row, cell, places }): EditedRow[] => {
    const texts = new Map(
      [...languages].flatMap((each) => {
        const text = cell(each);
        return text === null ? [] : [[each, normalizeCueText(text)] as const];
      }),
    );
    if (places === null) {
      if (cell(PLACES) !== '' || [...texts.values()].some((text) => text !== ''))
        problems.push(`row ${row} is not one of the export: rows are neither added nor split in the table`);
      return [];
    }
    const own = [...places].flatMap(([role, { file, cue }]) => (role === SOURCE ? [] : [[file, cue]]));
    const key = JSON.stringify(own);
    const before = seen.get(key);
    // A cue without a translation has a row for each text that lacks it.
    if (own.length > 0) seen.set(key, before ?? row);
    const problem = before === undefined ? differenceOf(cell, places) : `it repeats row ${before}`;
    return [{ row, places, texts, problem }];
  });
  if (problems.length > 0) return problems;
  if (rows.length === 0) return ['the table has no rows'];
  return { rows, lost: [...languages].filter((each) => !titles.has(each.toLowerCase())) };
}

function readPlaces(cell: string): TextPlaces | null {
  let value: unknown;
  try {
    value = JSON.parse(cell);
  } catch {
    return null;
  }
  const read = v.safeParse(Places, value);
  if (!read.success || Object.keys(read.output).length === 0) return null;
  const entries = Object.entries(read.output).map(([role, [file, cue, start_ms, end_ms, text]]) => {
    return [role, { file, cue, start_ms, end_ms, text }] as const;
  });
  return new Map(entries);
}

/** Spreadsheets show times in a form of their own, and save them so. */
const SHOWN_MS = 1_000;

/** Says which cell differs that is only there to be read: an edit that is not imported, or of a table that was sorted in part. */
function differenceOf(cell: (name: string) => string | null, places: TextPlaces): string | null {
  const source = places.get(SOURCE);
  const shown = shownCells(places);
  const [first] = places.values();
  const isMoved = (written: string | null, ms: number) => {
    const found = written === null ? ms : readTime(written);
    return found === null || Math.abs(found - ms) >= SHOWN_MS;
  };
  const wrong = [
    ...(['file', 'cue'] as const).filter((name) => (cell(name) ?? shown[name]) !== shown[name]),
    ...(isMoved(cell('start'), first?.start_ms ?? 0) ? ['start'] : []),
    ...(isMoved(cell('end'), first?.end_ms ?? 0) ? ['end'] : []),
    ...(digestText(cell(SOURCE) ?? '') !== source?.text && cell(SOURCE) !== null && source !== undefined
      ? [SOURCE]
      : []),
  ];
  if (wrong.length === 0) return null;
  return `its ${wrong.join(', ')} differs from the export: only translations are imported, and rows are sorted as a whole`;
}

/** Milliseconds of `00:01:02,500`, and of `1:02.5` as spreadsheets write it; null for another text. */
function readTime(text: string): number | null {
  const [, hours = '0', minutes, seconds] = /^\s*(?:(\d+):)?(\d+):(\d+(?:[.,]\d+)?)\s*$/.exec(text) ?? [];
  if (minutes === undefined || seconds === undefined) return null;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds.replace(',', '.'))) * 1000;
}
