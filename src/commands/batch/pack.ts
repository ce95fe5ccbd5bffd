/** `vloc batch pack`: results with their page, for somebody who has neither vloc nor the records. */
import { stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import * as v from 'valibot';
import { formatBytes } from '../../base/amounts.ts';
import { type Failure, partialFailure, usageFailure } from '../../base/failure.ts';
import { flagOption } from '../../base/option.ts';
import { type PackedFile, writePackFile, writePackFolder } from '../../base/pack-files.ts';
import { countFiles } from '../../batch/inputs/content.ts';
import { createPackNames } from '../../batch/report/pack-names.ts';
import type { PageJob } from '../../batch/report/page-jobs.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import { describeList } from '../context/output-schemas.ts';
import { printList, type RecordForm } from '../context/records.ts';
import { type BatchFolders, readBatchFolders } from './batch-folders.ts';
import { refuseBatchFile, writeBatchPage } from './batch-page.ts';

interface PackRow {
  /** Its path in the package. */
  readonly file: string;
  /** Null for a file that is missing. */
  readonly bytes: number | null;
}

const PACKED: RecordForm<PackRow> = {
  plural: 'files',
  idOf: ({ file }) => file,
  columns: [
    { head: 'FILE', field: 'file' },
    { head: 'SIZE', field: 'bytes', text: ({ bytes }) => (bytes === null ? 'missing' : formatBytes(bytes)) },
  ],
};

/** The page of the package, at its top. */
const PAGE = 'report.html';

export const batchPack: Command = defineCommand({
  operands: {
    name: 'path',
    count: 'many',
    help: 'folders of results, as given to --out, then the .zip file or the folder to write',
  },
  options: {
    noOriginals: flagOption('leave out the inputs'),
    clobber: flagOption('replace the .zip file if it exists; folders are never replaced'),
    dryRun: flagOption('list the files and their sizes; write nothing'),
  },
  examples: [
    { command: 'vloc batch pack out lessons.zip', explains: 'to send; open its report.html after unpacking' },
    {
      command: 'vloc batch pack out lessons-es --no-originals',
      explains: 'as a folder, without the inputs',
    },
    { command: 'vloc batch pack out-1 out-2 lessons.zip', explains: 'the shards of several machines' },
  ],
  notes: [
    'The package has results, inputs and subtitles, and the page of `vloc batch report --html`, which links to them; there are no records in it, nor costs, ids of jobs or paths of this machine.',
    'Exit code 3 if a file is missing; the others are packed.',
  ],
  fields: () => ['file', 'bytes'],
  prints: describeList(v.object({ file: v.string(), bytes: v.nullable(v.number()) })),
  run: async (context, operands, { noOriginals, clobber, dryRun }) => {
    const [target, ...folders] = operands.toReversed();
    if (target === undefined || folders.length === 0)
      throw invalidCallFailure(
        `only ${operands[0] ?? ''} is given`,
        'Name the folder of results, then the .zip file or the folder to write.',
      );
    const batch = await readBatchFolders(context, folders.toReversed());
    const path = resolve(context.io.cwd, target);
    const isFile = extname(path).toLowerCase() === '.zip';
    await refuseTarget(path, isFile && clobber, batch);
    const { files, rows, missing } = await collect(batch, noOriginals, context);
    if (!dryRun) await (isFile ? writePackFile : writePackFolder)(path, files, context.signal);
    await printList(context, PACKED, { data: rows });
    describePack(path, rows, batch, dryRun, context);
    if (missing.length > 0) throw missingFailure(missing, context);
    return 0;
  },
});

/** @throws Failure (`usage`) */
async function refuseTarget(path: string, mayReplace: boolean, batch: BatchFolders): Promise<void> {
  await refuseBatchFile(path, batch, 'Choose another place.');
  const found = await stat(path).catch(() => null);
  if (found === null || (mayReplace && found.isFile())) return;
  const advice = found.isFile() ? 'Choose another file, or use --clobber.' : 'Choose a new folder.';
  throw usageFailure('TARGET_EXISTS', `${path} exists`, advice);
}

interface Pack {
  readonly files: readonly PackedFile[];
  readonly rows: readonly PackRow[];
  /** Paths of files that are not there, absolute. */
  readonly missing: readonly string[];
}

/** The page, and all results and files that it links to, by name. */
async function collect(batch: BatchFolders, noOriginals: boolean, context: Context): Promise<Pack> {
  const { SUBTITLE_NAME } = await import('../../media/subtitles/read-subtitle.ts');
  const isSubtitle = (file: string) => SUBTITLE_NAME.test(file);
  const { nameFile, named } = createPackNames(batch.batches, { noOriginals, isSubtitle });
  const page = await writeBatchPage(batch, { pathOf: nameFile, commands: null, show: showOthers }, context);
  const files: PackedFile[] = [{ name: PAGE, content: page }];
  const rows: PackRow[] = [{ file: PAGE, bytes: Buffer.byteLength(page) }];
  const missing: string[] = [];
  const byName = [...named].toSorted(([, left], [, right]) => (left < right ? -1 : 1));
  for (const [file, name] of byName) {
    const size = (await stat(file).catch(() => null))?.size ?? null;
    rows.push({ file: name, bytes: size });
    if (size === null) missing.push(file);
    else files.push({ name, content: { file } });
  }
  return { files, rows, missing };
}

/** Without what concerns only the owner of the batch: messages may have addresses, paths and commands. */
function showOthers({ failure, ...job }: PageJob): PageJob {
  const own = { job_id: null, request_ids: [], client_reference: null, credits: null, units: [] };
  const shown = failure && { code: failure.code, message: '', advice: null, retryable: false };
  return { ...job, ...own, failure: shown };
}

function describePack(
  path: string,
  rows: readonly PackRow[],
  { facts: { items } }: BatchFolders,
  dryRun: boolean,
  { io, terminal }: Context,
): void {
  const there = rows.filter(({ bytes }) => bytes !== null);
  const size = formatBytes(there.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0));
  const what = `${countFiles(there.length)}, ${size}`;
  terminal.note(dryRun ? `Nothing was written: ${what}.` : `Written to ${showPath(path, io.cwd)}: ${what}.`);
  const open = items.filter(({ state }) => state !== 'done').length;
  if (open > 0) terminal.note(`${open} of ${items.length} items are not done; the page says which.`);
}

/** Enough to find the others by. */
const SHOWN = 10;

function missingFailure(missing: readonly string[], { io }: Context): Failure {
  const more = missing.length > SHOWN ? `, and ${missing.length - SHOWN} more` : '';
  const names = missing.slice(0, SHOWN).map((file) => showPath(file, io.cwd));
  return partialFailure(
    'FILES_MISSING',
    `${countFiles(missing.length)} missing: ${names.join(', ')}${more}`,
    'Restore them or run the command that made them again; --no-originals leaves out the inputs.',
  );
}
