/** Lists of inputs: --files-from, --files-from0, and --sheet, whose rows have options of their own. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { decodeText, readTable, type Table } from '../../base/read-table.ts';
import { describeUnreadable } from '../../base/system-error.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { nearestName } from '../../protocol/nearest.ts';
import type { InputProblem } from '../input.ts';
import { type Candidate, isNonFileInput, listedFile, otherCandidate, type SheetRow } from './candidate.ts';
import { fieldFlags, flagName } from './field-flags.ts';
import type { PlanIo } from './plan-request.ts';

/**
 * The entries of a list, `-` for stdin: one per line, or each followed by a NUL, as `find -print0` writes them.
 * @returns the reason as a sentence if it cannot be read
 */
export async function readList(
  written: string,
  separator: 'line' | 'nul',
  io: Pick<PlanIo, 'cwd' | 'stdin'>,
): Promise<readonly string[] | string> {
  const bytes = await readOrSay(written, io);
  if (typeof bytes === 'string') return bytes;
  const text = decodeText(bytes);
  if (text === null) return 'the list is not UTF-8; write the names as UTF-8';
  if (separator === 'line' && text.includes('\0'))
    return 'the list contains NUL characters; read it with --files-from0';
  const entries = separator === 'line' ? text.split(/\r?\n/) : text.split('\0');
  return entries.filter((entry) => entry !== '');
}

/** The bytes of a file or of stdin, or why they cannot be read. */
async function readOrSay(
  written: string,
  { cwd, stdin }: Pick<PlanIo, 'cwd' | 'stdin'>,
): Promise<Buffer | string> {
  if (written === '-') return buffer(stdin);
  try {
    return await readFile(resolve(cwd, written));
  } catch (error) {
    return describeUnreadable(error) ?? `cannot be read (${error}); check the path and its permissions`;
  }
}

/** The column of the inputs. */
const FILE_COLUMN = 'file';

/**
 * Reads a sheet, CSV or JSON; `-` is stdin. Paths are relative to the folder of the sheet.
 * @param takes the type of inputs of the kind
 */
export async function readSheet(
  written: string,
  kind: JobKind,
  takes: 'video' | 'subtitle',
  io: Pick<PlanIo, 'cwd' | 'stdin'>,
  problems: InputProblem[],
): Promise<readonly Candidate[]> {
  const report = (detail: string) => problems.push({ pointer: `--sheet ${written}`, detail });
  const table = await readTableFile(written, io);
  if (typeof table === 'string') {
    report(table);
    return [];
  }
  if (table.rows.length === 0) {
    report('has no rows; write a header such as file,to and a row for each input');
    return [];
  }
  const columns = readColumns(table, kind, report);
  if (columns === null) return [];
  const root = written === '-' ? io.cwd : dirname(resolve(io.cwd, written));
  return table.rows.flatMap((cells, index): Candidate[] => {
    const row: SheetRow = { position: index + 1, options: optionsOf(cells, columns) };
    const file = cells[columns.file];
    if (typeof file !== 'string' || file === '') {
      report(`row ${row.position} has no value in the column "${FILE_COLUMN}"`);
      return [];
    }
    return [isNonFileInput(file, takes) ? otherCandidate(file, row) : listedFile(file, root, row)];
  });
}

interface Columns {
  /** The title of the column of files, as written. */
  readonly file: string;
  /** From the title as written to the name of the option. */
  readonly options: ReadonlyMap<string, string>;
}

function readColumns(table: Table, kind: JobKind, report: (detail: string) => void): Columns | null {
  const known = new Map(
    fieldFlags(kind).flatMap(({ field, option }) => [
      [plain(field), option],
      [plain(option), option],
    ]),
  );
  const names = [FILE_COLUMN, ...fieldFlags(kind).map(({ option }) => flagName(option).slice(2))];
  const options = new Map<string, string>();
  let file: string | null = null;
  let isUsable = true;
  for (const title of table.titles) {
    const option = known.get(plain(title));
    const isTaken = option !== undefined && [...options.values()].includes(option);
    if (plain(title) === FILE_COLUMN) file = title;
    else if (option !== undefined && !isTaken) options.set(title, option);
    else {
      isUsable = false;
      const meant = nearestName(title, names);
      const fix = meant === null ? `columns: ${names.join(', ')}` : `did you mean ${meant}?`;
      report(isTaken ? `the column "${title}" appears twice` : `there is no column "${title}"; ${fix}`);
    }
  }
  if (file === null) report(`has no column "${FILE_COLUMN}", which names the inputs`);
  return file === null || !isUsable ? null : { file, options };
}

/** `Voice-Mode`, `voice_mode`, `--voice-mode` and `voiceMode` mean the same. */
function plain(title: string): string {
  return title.toLowerCase().replace(/[-_\s]/g, '');
}

function optionsOf(cells: Readonly<Record<string, unknown>>, { options }: Columns): SheetRow['options'] {
  const given = [...options].flatMap(([title, option]): [string, unknown][] => {
    const value = cells[title];
    const isEmpty = value === undefined || value === null || value === '';
    return isEmpty ? [] : [[option, option === 'to' ? languages(value) : value]];
  });
  return Object.fromEntries(given);
}

/** A cell may hold several: `es, fr`, `es;fr`, `es fr`. */
function languages(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String);
  return String(value)
    .split(/[\s,;|]+/)
    .filter((tag) => tag !== '');
}

/**
 * The rows of a CSV file or a workbook with a header, or of a JSON array of objects; `-` is stdin.
 * @returns the reason as a sentence if it is none of them
 */
export async function readTableFile(
  written: string,
  io: Pick<PlanIo, 'cwd' | 'stdin'>,
): Promise<Table | string> {
  const bytes = await readOrSay(written, io);
  return typeof bytes === 'string' ? bytes : readTable(bytes);
}
