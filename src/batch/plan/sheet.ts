/** --sheet: a table of inputs with options of their own. */
import { dirname, resolve } from 'node:path';
import type { JobKind } from '../../protocol/kind-names.ts';
import { nearestName } from '../../protocol/nearest.ts';
import { type Candidate, isNoFile, listedFile, otherCandidate, type SheetRow } from './candidate.ts';
import { fieldFlags, flagName } from './field-flags.ts';
import type { InputProblem } from './input.ts';
import { decode, readOrSay } from './list-file.ts';
import type { PlanIo } from './plan-io.ts';
import { readTable, type Table } from './sheet-table.ts';

/** The column that names the input. */
const FILE_COLUMN = 'file';

/**
 * Reads a sheet, CSV or JSON; `-` is stdin. Files are meant from where the sheet lies.
 * @param takes what the kind works on
 */
export async function readSheet(
  written: string,
  kind: JobKind,
  takes: 'video' | 'subtitle',
  io: Pick<PlanIo, 'cwd' | 'stdin'>,
  problems: InputProblem[],
): Promise<readonly Candidate[]> {
  const report = (detail: string) => problems.push({ pointer: `--sheet ${written}`, detail });
  const bytes = await readOrSay(written, io);
  const text = typeof bytes === 'string' ? null : decode(bytes);
  const table = typeof bytes === 'string' ? bytes : text === null ? 'is not UTF-8' : await readTable(text);
  if (typeof table === 'string') {
    report(table);
    return [];
  }
  const columns = readColumns(table, kind, report);
  if (columns === null) return [];
  const root = written === '-' ? io.cwd : dirname(resolve(io.cwd, written));
  return table.rows.flatMap((cells, index): Candidate[] => {
    const row: SheetRow = { position: index + 1, options: optionsOf(cells, columns) };
    const file = cells[columns.file];
    if (typeof file !== 'string' || file === '') {
      report(`row ${row.position} names no ${FILE_COLUMN}`);
      return [];
    }
    return [isNoFile(file, takes) ? otherCandidate(file, row) : listedFile(file, root, row)];
  });
}

interface Columns {
  /** The title of the column of files, as it is written. */
  readonly file: string;
  /** Title as it is written, to the name of the option. */
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
      report(isTaken ? `the column "${title}" is there twice` : `there is no column "${title}"; ${fix}`);
    }
  }
  if (file === null) report(`has no column "${FILE_COLUMN}", which names the inputs`);
  return file === null || !isUsable ? null : { file, options };
}

/** `Voice-Mode`, `voice_mode`, `--voice-mode` and `voiceMode` are one. */
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
