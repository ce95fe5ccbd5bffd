/** `vloc memory export|import`: exchanges the translation memory with other programs. */

import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { formatBytes } from '../../base/amounts.ts';
import { usageFailure } from '../../base/failure.ts';
import { flagOption, type OptionValues, textOption } from '../../base/option.ts';
import { replaceFile } from '../../base/replace-file.ts';
import {
  AUTO,
  isFromElsewhere,
  type Memory,
  type MemoryEntry,
  memoryPath,
  openMemory,
} from '../../batch/records/translation-memory.ts';
import { nearLanguages, withoutRegion } from '../../protocol/languages.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { describeList, describeRecord } from '../context/output-schemas.ts';
import { printList, printRecord, type RecordForm } from '../context/records.ts';
import { readTmx, TmxError, writeTmx } from './tmx.ts';

const MEMORY_TABLE = {
  memory: textOption('file', 'the memory (default: the one in --folder)'),
  folder: textOption('dir', 'a folder of results (default: the current one)'),
};

type MemoryValues = OptionValues<typeof MEMORY_TABLE>;

interface ExportRow {
  readonly file: string;
  readonly units: number;
}

const EXPORTED: RecordForm<ExportRow> = {
  plural: 'files',
  idOf: ({ file }) => file,
  columns: (['file', 'units'] as const).map((field) => ({ head: field, field })),
};

const EXPORTED_MEMORY = describeRecord(v.object({ file: v.string(), units: v.number() }));

const IMPORTED_MEMORY = describeList(
  v.object({ file: v.string(), imported: v.number(), skipped: v.number() }),
);

export const memoryExport: Command = defineCommand({
  operands: { name: 'file', count: 'any', help: 'the file to write (default: stdout)' },
  options: {
    ...MEMORY_TABLE,
    clobber: flagOption('replace the file if it exists'),
  },
  examples: [
    {
      command: 'vloc memory export memory.tmx --folder out',
      explains: 'what is remembered of a folder of results',
    },
    { command: 'vloc memory export --memory team.db', explains: 'to stdout' },
  ],
  notes: ['Lines that you have edited in results since the last run are included.'],
  fields: () => ['file', 'units'],
  prints: EXPORTED_MEMORY,
  run: async (context, operands, options) => {
    const [file, ...others] = operands;
    if (others.length > 0) throw invalidCallFailure('more than one file to write', 'Name one.');
    if (file === undefined && context.present.part !== 'pages')
      throw invalidCallFailure(`--output ${context.output} needs a file to write`, 'Name it.');
    const memory = await openNamed(context, options, true);
    try {
      await memory.collectEdits();
      const entries = memory.list();
      const parts = writeTmx(entries);
      if (file === undefined) {
        context.print([...parts].join('').trimEnd());
        return 0;
      }
      const path = resolve(context.io.cwd, file);
      if (!options.clobber && (await stat(path).catch(() => null)) !== null)
        throw usageFailure('TARGET_EXISTS', `${path} exists`, 'Choose another file, or use --clobber.');
      await replaceFile(path, Buffer.concat([...parts].map((part) => Buffer.from(part))));
      await printRecord(context, EXPORTED, { file, units: entries.length });
      return 0;
    } finally {
      await memory.close();
    }
  },
});

interface ImportRow {
  readonly file: string;
  readonly imported: number;
  readonly skipped: number;
}

const IMPORTED: RecordForm<ImportRow> = {
  plural: 'files',
  idOf: ({ file }) => file,
  columns: (['file', 'imported', 'skipped'] as const).map((field) => ({ head: field, field })),
};

/** A memory of a million sentences has this size. */
const MOST_BYTES = 512 * 1024 ** 2;

export const memoryImport: Command = defineCommand({
  operands: { name: 'file', count: 'many', help: 'TMX files' },
  options: MEMORY_TABLE,
  examples: [
    { command: 'vloc memory import memory.tmx --folder out', explains: 'for the next run into that folder' },
    {
      command: 'vloc memory import agency.tmx --memory team.db',
      explains: 'for all runs with --memory team.db',
    },
  ],
  notes: [
    'Lines of other programs, and lines that were changed in an exported file, count as written by a person: they are used with every service and engine.',
  ],
  fields: () => ['file', 'imported', 'skipped'],
  prints: IMPORTED_MEMORY,
  run: async (context, operands, options) => {
    const { io } = context;
    const now = new Date(io.now()).toISOString();
    const read = [];
    // All are checked before the first is added.
    for (const file of operands) {
      const bytes = await readFileUpTo(resolve(io.cwd, file), file);
      try {
        read.push({ file, ...readTmx(bytes, now) });
      } catch (error) {
        if (!(error instanceof TmxError)) throw error;
        throw usageFailure(
          'TMX_INVALID',
          `${file} cannot be read as TMX: ${error.message}; nothing was imported`,
          'Export it again as TMX 1.4.',
        );
      }
    }
    const memory = await openNamed(context, options, false);
    try {
      const rows: ImportRow[] = [];
      for (const { file, entries, plain, skipped } of read) {
        // Of two entries of one date for the same text, the later one counts.
        if (entries.length > 0) await memory.add([...plain, ...entries]);
        rows.push({ file, imported: entries.length, skipped });
      }
      await printList(context, IMPORTED, { data: rows });
      const imported = read.flatMap(({ entries }) => entries);
      if (imported.length > 0) context.terminal.note(describeUse(imported));
      return 0;
    } finally {
      await memory.close();
    }
  },
});

/** Says for which languages lines are used. Lines of vloc's own exports are used for their own only. */
function describeUse(entries: readonly MemoryEntry[]): string {
  const tagsOf = (some: readonly MemoryEntry[], side: 'from' | 'to') =>
    [...new Set(some.map((entry) => entry[side]))].filter((tag) => tag !== AUTO);
  const sources = tagsOf(entries, 'from').join(', ') || 'any language';
  const elsewhere = entries.filter(isFromElsewhere);
  const tags = [...new Set([...tagsOf(elsewhere, 'from'), ...tagsOf(elsewhere, 'to')])];
  const others = tags.flatMap((tag) => {
    const general = withoutRegion(tag);
    if (general === tag) return [`${tag} for its regions`];
    return !tags.includes(general) && nearLanguages(general, tags)[0] === tag
      ? [`${tag} for ${general}`]
      : [];
  });
  const also = others.length === 0 ? '' : `; also ${others.join(', ')}`;
  return `Used for translations from ${sources} to ${tagsOf(entries, 'to').join(', ')}${also}.`;
}

async function readFileUpTo(path: string, name: string): Promise<Uint8Array> {
  const unreadable = (why: string) =>
    usageFailure('UNREADABLE', `cannot read ${name}: ${why}; nothing was imported`, 'Check the path.');
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(String(error));
  });
  if (!found.isFile()) throw unreadable('it is not a file');
  if (found.size > MOST_BYTES)
    throw unreadable(`${formatBytes(found.size)} is over the limit of ${formatBytes(MOST_BYTES)}`);
  return readFile(path);
}

/** @throws Failure (`usage`) if it must be there and is not */
async function openNamed(
  { io }: Pick<Context, 'io'>,
  { memory: written, folder = '.' }: MemoryValues,
  mustExist: boolean,
): Promise<Memory> {
  const isNamed = written !== undefined && written !== '';
  const path = isNamed ? resolve(io.cwd, written) : memoryPath(resolve(io.cwd, folder));
  if (mustExist && (await stat(path).catch(() => null)) === null)
    throw usageFailure(
      'NO_MEMORY',
      `there is no translation memory at ${path}`,
      'Name a folder of translations with --folder, or a file with --memory.',
    );
  return openMemory(path, { now: io.now });
}
