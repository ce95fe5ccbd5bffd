import { readFile, realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { formatBytes } from '../../base/amounts.ts';
import { EXIT_CODES } from '../../base/exit-codes.ts';
import { Failure, usageFailure } from '../../base/failure.ts';
import { flagOption } from '../../base/option.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { statReadable } from '../../batch/inputs/file-status.ts';
import { readTableFile } from '../../batch/inputs/lists.ts';
import { commonFolder, showInvisible } from '../../batch/report/text-reports.ts';
import { encodeLike, type ScannedText, textInside } from '../../media/subtitles/read-subtitle.ts';
import { replaceCueWords } from '../../media/subtitles/write-like.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { isLongerThan, nameRow } from '../../protocol/subtitle-line.ts';
import { type Command, defineCommand } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import { describeList } from '../context/output-schemas.ts';
import { writeCommand } from '../context/printed-command.ts';
import { printList, type RecordForm } from '../context/records.ts';
import { countNoun } from '../subtitles/subtitles.ts';
import { commandFor, findBatches } from './batches.ts';
import { scanFile } from './find-texts.ts';
import { digestText, type EditedRow, readRows, SOURCE, type TextPlace } from './review-table.ts';

const STATES = ['written', 'to_write', 'unchanged', 'refused', 'failed'] as const;

const IMPORTED_FILE = v.object({
  file: v.string(),
  language: v.string(),
  state: v.picklist(STATES),
  changes: v.array(v.object({ row: v.number(), cue: v.number(), before: v.string(), after: v.string() })),
  problems: v.array(
    v.object({ row: v.nullable(v.number()), cue: v.nullable(v.number()), message: v.string() }),
  ),
});

type ImportedFile = v.InferOutput<typeof IMPORTED_FILE>;
type Problem = ImportedFile['problems'][number];

const IMPORTED: RecordForm<ImportedFile> = {
  plural: 'files',
  idOf: ({ file }) => file,
  columns: [
    { head: 'file', field: 'file' },
    { head: 'state', field: 'state' },
    { head: 'changes', field: 'changes', text: ({ changes }) => String(changes.length) },
    { head: 'problems', field: 'problems', text: ({ problems }) => String(problems.length) },
  ],
};

export const subtitlesImport: Command = defineCommand({
  operands: { name: 'table', count: 'one', help: 'a table of `vloc subtitles export`, .csv or .xlsx' },
  options: { dryRun: flagOption('list what would change; write nothing') },
  examples: [
    {
      command: 'vloc subtitles import review.csv --dry-run',
      explains: 'the old and the new text of each edited cell',
    },
    { command: 'vloc subtitles import review.csv', explains: 'writes these into their subtitles' },
  ],
  notes: [
    'Run it in the folder of the export. Only edited cells of languages are written; a repeated command continues.',
    'A file is left as it is if a row of it cannot be imported, such as one whose source, times or text in the file changed since the export.',
    'Exit code 3: some files were left; 2: all of them.',
  ],
  fields: () => ['file', 'language', 'state', 'changes', 'problems'],
  prints: describeList(IMPORTED_FILE),
  run: async (context, [table = ''], { dryRun }) => {
    const { io, signal, terminal } = context;
    const { rows, lost } = await readReview(table, context);
    const read = createReader(io.cwd);
    const imported: ImportedFile[] = [];
    const notes: string[] = lost.map((each) => `The table has no column "${each}": these texts stay.`);
    for (const target of listTargets(rows).filter(({ language }) => !lost.includes(language))) {
      signal.throwIfAborted();
      const { result, missing } = await importFile(target, read, dryRun);
      imported.push(result);
      if (missing > 0)
        notes.push(`${target.file}: ${countNoun(missing, 'cue')} without a row in the table, unchanged.`);
    }
    await printList(
      context,
      IMPORTED,
      { data: imported },
      { pages: () => imported.flatMap((each) => describe(each, table)) },
    );
    for (const note of notes) terminal.note(note);
    terminal.note(describeStates(imported));
    for (const note of await describeNext(imported, context)) terminal.note(note);
    return exitCodeOf(imported);
  },
});

/** @throws Failure (`usage`, TABLE_INVALID) that lists why nothing of it can be imported */
async function readReview(written: string, { io }: Pick<Context, 'io'>) {
  const table = await readTableFile(written, io);
  const read = typeof table === 'string' ? [table] : readRows(table);
  if ('rows' in read) return read;
  const errors = read.map((detail) => ({ pointer: written, detail }));
  const advice = 'Nothing was written. Correct the table, or export it again.';
  throw usageFailure('TABLE_INVALID', `the table ${written} cannot be imported`, advice, { errors });
}

/** The texts of one file in the table. */
interface Target {
  readonly file: string;
  readonly language: string;
  readonly rows: readonly TargetRow[];
}

interface TargetRow extends Omit<EditedRow, 'texts'> {
  /** Null for a cue that the file does not have. */
  readonly place: TextPlace | null;
  readonly source: TextPlace | null;
  readonly text: string;
}

function listTargets(rows: readonly EditedRow[]): readonly Target[] {
  const languages = new Set(
    rows.flatMap(({ places }) => [...places.keys()]).filter((role) => role !== SOURCE),
  );
  return [...languages].flatMap((language) => {
    // A cue that only the source has belongs to the file of the others.
    const files = new Map(
      rows.flatMap(({ places }) => {
        const file = places.get(language)?.file;
        return file === undefined ? [] : [...places.values()].map((place) => [place.file, file] as const);
      }),
    );
    const own = rows.flatMap(({ texts, ...row }) => {
      const place = row.places.get(language) ?? null;
      const [first] = row.places.values();
      const file = place?.file ?? files.get(first?.file ?? '');
      const source = row.places.get(SOURCE) ?? null;
      return file === undefined
        ? []
        : [{ file, row: { ...row, place, source, text: texts.get(language) ?? '' } }];
    });
    return [...Map.groupBy(own, ({ file }) => file)].map(([file, each]) => ({
      ...{ file, language },
      rows: each.map(({ row }) => row),
    }));
  });
}

interface ScannedFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly scanned: ScannedText;
}

/** A file as it is now, or why it cannot be read. */
type FileReader = (file: string) => Promise<ScannedFile | string>;

/** Reads each file once. */
function createReader(cwd: string): FileReader {
  const known = new Map<string, ReturnType<FileReader>>();
  const read = async (file: string) => {
    const path = resolve(cwd, file);
    const found = await statReadable(path);
    if (typeof found === 'string') return `${found} (run the command in the folder of the export)`;
    if (found.bytes >= LIMITS.subtitleBytes) return `${formatBytes(found.bytes)} is over the limit`;
    const bytes = await readFile(path);
    const scanned = scanFile(bytes, path);
    return typeof scanned === 'string' ? scanned : { path: await realpath(path), bytes, scanned };
  };
  return (file) => {
    const found = known.get(file) ?? read(file);
    known.set(file, found);
    return found;
  };
}

/** Writes the edited cells of one file, all or none. @returns also how many cues have no row */
async function importFile(
  { file, language, rows }: Target,
  read: FileReader,
  isDry: boolean,
): Promise<{ readonly result: ImportedFile; readonly missing: number }> {
  const found = await read(file);
  const end = (state: ImportedFile['state'], parts: Partial<ImportedFile> = {}) => ({
    result: { file, language, state, changes: [], problems: [], ...parts },
    missing: typeof found === 'string' ? 0 : found.scanned.cues.length - numbers.size,
  });
  const numbers = new Map(rows.flatMap((each) => (each.place === null ? [] : [[each.place.cue, each]])));
  if (typeof found === 'string')
    return end('refused', { problems: [{ row: null, cue: null, message: found }] });
  const { scanned, bytes, path } = found;
  const problems: Problem[] = [];
  for (const row of rows) {
    const message = await findProblem(row, scanned, read);
    if (message !== null) problems.push({ row: row.row, cue: row.place?.cue ?? null, message });
  }
  if (problems.length > 0) return end('refused', { problems });
  const replaced = replaceCueWords(scanned, new Map([...numbers].map(([cue, { text }]) => [cue, text])));
  if ('unfit' in replaced) {
    const { unfit: cue } = replaced;
    const message = 'this text would be read as more than one cue, or as none';
    return end('refused', { problems: [{ row: numbers.get(cue)?.row ?? null, cue, message }] });
  }
  const changes = replaced.changed.map((number) => {
    const cue = scanned.cues[number - 1];
    const before = cue === undefined ? '' : textInside(cue, scanned.format);
    const { row = 0, text = '' } = numbers.get(number) ?? {};
    return { row, cue: number, before, after: text };
  });
  if (changes.length === 0) return end('unchanged');
  if (isDry) return end('to_write', { changes });
  try {
    await replaceFile(path, encodeLike(bytes, replaced.text));
    return end('written', { changes });
  } catch (error) {
    // The other files are written all the same.
    if (!(error instanceof Failure)) throw error;
    return end('failed', { problems: [{ row: null, cue: null, message: error.message }] });
  }
}

/** Why a row cannot be written; null if it can, and if it need not be. */
async function findProblem(
  { place, source, text, problem }: TargetRow,
  scanned: ScannedText,
  read: FileReader,
): Promise<string | null> {
  if (problem !== null) return problem;
  if (place === null) return text === '' ? null : 'the file has no cue here; add one in a subtitle editor';
  if (source !== null) {
    const from = await read(source.file);
    if (typeof from === 'string') return `its source ${source.file}: ${from}`;
    const change = findChange(source, from.scanned);
    if (change !== null) return `${change} in its source ${source.file} changed since the export`;
  }
  const change = findChange(place, scanned);
  // An import that was interrupted is repeated.
  const isThere = change === 'the text' && changesNothing(scanned, place.cue, text);
  if (change !== null && !isThere) return `${change} in the file changed since the export`;
  if (text === '' && place.text !== digestText(''))
    return 'its cell is empty; remove cues in a subtitle editor';
  if (isLongerThan(LIMITS.lineCharacters, text))
    return `it has more than ${LIMITS.lineCharacters} characters`;
  return null;
}

/** What of a cue is not as it was when the table was written. */
function findChange(
  place: TextPlace,
  { cues, format }: ScannedText,
): 'the cue' | 'the times' | 'the text' | null {
  const cue = cues[place.cue - 1];
  if (cue === undefined) return 'the cue';
  if (cue.start_ms !== place.start_ms || cue.end_ms !== place.end_ms) return 'the times';
  return digestText(textInside(cue, format)) === place.text ? null : 'the text';
}

function changesNothing(scanned: ScannedText, cue: number, text: string): boolean {
  const replaced = replaceCueWords(scanned, new Map([[cue, text]]));
  return 'changed' in replaced && replaced.changed.length === 0;
}

/** Lines for people: what is or would be written, and what is not. */
function describe({ file, state, changes, problems }: ImportedFile, table: string): readonly string[] {
  const oneRow = (text: string) => text.replaceAll('\n', ' / ');
  const shown =
    state === 'to_write'
      ? changes.flatMap(({ row, cue, before, after }) => [
          `${nameRow(table, row)}: ${file}, cue ${cue}`,
          `- ${oneRow(before)}`,
          `+ ${oneRow(after)}`,
        ])
      : [];
  const refused = problems.map(({ row, cue, message }) => {
    const where = row === null ? file : `${nameRow(table, row)}: ${nameCue(file, cue)}`;
    return `${where}: ${message}`;
  });
  const written = state === 'written' ? [`${file}: ${countNoun(changes.length, 'cue')} written`] : [];
  return [...shown, ...refused, ...written].map(showInvisible);
}

function nameCue(file: string, cue: number | null): string {
  return cue === null ? file : `${file}, cue ${cue}`;
}

const STATE_WORDS = {
  written: 'written',
  to_write: 'to write',
  unchanged: 'unchanged',
  refused: 'left as they are, since rows cannot be imported',
  failed: 'not written',
} as const satisfies Record<ImportedFile['state'], string>;

/** `3 files: 2 written, 1 unchanged.` */
function describeStates(imported: readonly ImportedFile[]): string {
  if (imported.length === 0) return 'Nothing to import.';
  const counts = STATES.flatMap((state) => {
    const count = imported.filter((each) => each.state === state).length;
    return count === 0 ? [] : [`${count} ${STATE_WORDS[state]}`];
  });
  return `${countNoun(imported.length, 'file')}: ${counts.join(', ')}.`;
}

/** A list of many would hide the rest. */
const MOST_COMMANDS = 3;

/** The commands that make again what depends on the written files. */
async function describeNext(imported: readonly ImportedFile[], context: Context): Promise<readonly string[]> {
  const written = imported
    .filter(({ state }) => state === 'written')
    .map(({ file, language }) => ({ path: resolve(context.io.cwd, file), language }));
  if (written.length === 0) return [];
  const batches = await findBatches(
    written.map(({ path }) => path),
    context,
  );
  const known = written.flatMap(({ path, language }) => commandFor(path, language, batches, context) ?? []);
  const folder = showPath(commonFolder(written.map(({ path }) => dirname(path))), context.io.cwd);
  const languages = [...new Set(written.map(({ language }) => language))].join(',');
  const usual = writeCommand(context, ['localize', folder, '--to', languages, '--from-subtitles']);
  const commands = known.length === 0 ? [usual] : [...new Set(known)].slice(0, MOST_COMMANDS);
  return ['Dub what has changed, with the options of before:', ...commands.map((each) => `  ${each}`)];
}

function exitCodeOf(imported: readonly ImportedFile[]): number {
  const isIn = (state: ImportedFile['state']) => (each: ImportedFile) => each.state === state;
  if (imported.some(isIn('failed'))) return EXIT_CODES.disk.code;
  if (!imported.some(isIn('refused'))) return EXIT_CODES.done.code;
  return imported.every(isIn('refused')) ? EXIT_CODES.usage.code : EXIT_CODES.partial.code;
}
