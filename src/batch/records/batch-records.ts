/** The records of a batch: what is written into its database, and what it says. Source: design, "The record (journal)". */
import { relative, resolve } from 'node:path';
import { nameBelow } from '../../base/relative-name.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { ItemProvenance } from '../item-provenance.ts';
import {
  type Attempt,
  type AttemptRecord,
  type Attempts,
  advanceAttempt,
  type ForgottenRecord,
  gatherAttempts,
  moveAttempt,
  type StoredFile,
} from './attempts.ts';
import { type BatchCommand, commandIdentity } from './command-record.ts';
import type { Content, RecordDatabase, Row, Schema } from './database.ts';
import type { ItemFacts } from './item-facts.ts';
import { nameOfKey, readPartKey } from './item-key.ts';
import type { ComparedRecord, DamageRecord, LostJob } from './lost-jobs.ts';
import type { FindOutputs, OutputRow, OutputsRecord } from './outputs.ts';
import type { PreparedRecord } from './part-records.ts';
import type { FinishedVideo, StageRecords, WrittenSubtitle } from './stage-records.ts';
import type { CheckedInputs, UnusableRecord, UsableRecord } from './unusable-inputs.ts';

/** The name of a folder in the references of its jobs. */
interface BatchNameRecord {
  readonly type: 'batch_name';
  readonly batch: string;
  /** False if it was chosen after records were lost, perhaps including an earlier name. */
  readonly is_certain: boolean;
}

/** How the job of an attempt made its result. */
interface MadeRecord {
  readonly type: 'made';
  readonly key: string;
  readonly provenance: ItemProvenance;
}

/** One thing that has happened. Paths of files are absolute. */
export type BatchRecord =
  | AttemptRecord
  | ForgottenRecord
  | ItemFacts
  | BatchCommand
  | UnusableRecord
  | UsableRecord
  | BatchNameRecord
  | MadeRecord
  | PreparedRecord
  | OutputsRecord
  | FinishedVideo
  | DamageRecord
  | ComparedRecord;

export const BATCH_SCHEMA: Schema = {
  // `vloB`
  applicationId: 0x766c6f42,
  version: 2,
  // Columns with objects are JSON.
  sql: `
    CREATE TABLE batch (name TEXT PRIMARY KEY, is_certain INTEGER, checksum TEXT) STRICT;
    CREATE TABLE items (
      key TEXT PRIMARY KEY, label TEXT, kind TEXT, path TEXT, size INTEGER, mtime_ms REAL, audio_track INTEGER,
      sample_seconds REAL, sha256 TEXT, fields TEXT, video TEXT, checksum TEXT
    ) STRICT;
    CREATE TABLE checks (item TEXT PRIMARY KEY, at TEXT, label TEXT, detail TEXT, code TEXT, checksum TEXT) STRICT;
    CREATE TABLE attempts (
      key TEXT PRIMARY KEY, item TEXT, kind TEXT NOT NULL, request TEXT NOT NULL, body_sha256 TEXT NOT NULL,
      input_sha256 TEXT, is_free INTEGER NOT NULL, state TEXT NOT NULL, job_id TEXT, error TEXT, message TEXT,
      retryable INTEGER NOT NULL, request_id TEXT, asked_at TEXT NOT NULL, accepted_at TEXT, finished_at TEXT,
      downloaded_at TEXT, expires_at TEXT, language TEXT, quantity REAL, bill_status TEXT, reserved REAL, charged REAL,
      files TEXT, made_by TEXT, checksum TEXT
    ) STRICT;
    CREATE INDEX attempts_of_item ON attempts (item);
    CREATE TABLE commands (
      identity TEXT PRIMARY KEY, at TEXT, argv TEXT, cwd TEXT, host TEXT, profile TEXT, kind TEXT, operands TEXT,
      options TEXT, partial INTEGER, checksum TEXT
    ) STRICT;
    CREATE TABLE command_items (
      command TEXT, item TEXT, begun_at TEXT, checksum TEXT, PRIMARY KEY (command, item)
    ) STRICT;
    CREATE INDEX commands_of_item ON command_items (item);
    CREATE TABLE prepared (source TEXT, recipe TEXT, files TEXT, split TEXT, checksum TEXT, PRIMARY KEY (source, recipe)) STRICT;
    CREATE TABLE outputs (
      path TEXT, sha256 TEXT, item TEXT, step TEXT, made TEXT, language TEXT, size INTEGER, asset TEXT, kept TEXT,
      checksum TEXT,
      PRIMARY KEY (path, sha256)
    ) STRICT;
    CREATE INDEX outputs_of_item ON outputs (item);
    CREATE TABLE damages (number INTEGER PRIMARY KEY, places TEXT, kept TEXT, checksum TEXT) STRICT;
    CREATE TABLE comparisons (kind TEXT PRIMARY KEY, damages INTEGER, checksum TEXT) STRICT;
    CREATE TABLE lost_jobs (
      id TEXT PRIMARY KEY, kind TEXT, status TEXT, created_at TEXT, client_reference TEXT, checksum TEXT
    ) STRICT;`,
  noteDamage: (database, places, kept) => applyRecord(database, '', { type: 'log_damaged', places, kept }),
};

/** Read access to the records of a batch; each part is read on demand. Paths of files are absolute. */
export interface BatchRecords {
  readonly isEmpty: boolean;
  /** Null until the first run has chosen one. */
  readonly name: Omit<BatchNameRecord, 'type'> | null;
  readonly attempts: Attempts;
  /** By item key. */
  readonly facts: ReadonlyMap<string, ItemFacts>;
  readonly checked: CheckedInputs;
  /** Each command once, as it was run last; those that watch or run in stages with the items of all their runs. */
  readonly commands: readonly BatchCommand[];
  /** When a command last named each item, milliseconds since 1970. */
  readonly begun: ReadonlyMap<string, number>;
  /** By key of the attempt. */
  readonly provenances: ReadonlyMap<string, ItemProvenance>;
  readonly prepared: readonly PreparedRecord[];
  readonly findOutputs: FindOutputs;
  readonly stages: StageRecords;
  /** Damage that earlier runs found, with the kinds of jobs that were compared with the service since. */
  readonly damages: readonly (DamageRecord & { readonly comparedSince: readonly JobKind[] })[];
  /** Jobs that were compared with the service, and what it said; null for those that it no longer has. */
  readonly lostJobs: readonly { readonly id: string; readonly kind: JobKind; readonly job: LostJob | null }[];
}

/** Records of a file that was read, and a sentence for each place that cannot be. */
export interface ReadRecords extends BatchRecords {
  readonly damage: readonly string[];
}

/** @param folder of the results, absolute */
export function viewContent({ rows, damage }: Content, folder: string): ReadRecords {
  const indexes = new Map<string, Map<string, Row[]>>();
  const rowsOf = (table: string, where: Row = {}) => {
    const all = rows.get(table) ?? [];
    const names = Object.keys(where);
    if (names.length === 0) return all;
    const index =
      indexes.get(`${table} ${names}`) ??
      Map.groupBy(all, (row) => JSON.stringify(names.map((name) => row[name])));
    indexes.set(`${table} ${names}`, index);
    return index.get(JSON.stringify(Object.values(where))) ?? [];
  };
  // The parts are made here, once, since a report looks at them for each item.
  return { ...viewRecords(rowsOf, folder), damage };
}

/** Several records as one; of the same item those of the last. */
export function combineRecords(all: readonly ReadRecords[]): ReadRecords {
  const join = <Value>(mapOf: (records: ReadRecords) => ReadonlyMap<string, Value>) =>
    new Map(all.flatMap((records) => [...mapOf(records)]));
  return {
    isEmpty: all.every(({ isEmpty }) => isEmpty),
    name: all[0]?.name ?? null,
    attempts: gatherAttempts(all.flatMap(({ attempts }) => [...attempts.byKey.values()])),
    facts: join(({ facts }) => facts),
    checked: {
      unusable: join(({ checked }) => checked.unusable),
      usable: new Set(all.flatMap(({ checked }) => [...checked.usable])),
    },
    commands: all.flatMap(({ commands }) => commands),
    begun: join(({ begun }) => begun),
    provenances: join(({ provenances }) => provenances),
    prepared: all.flatMap(({ prepared }) => prepared),
    findOutputs: (where) => all.flatMap(({ findOutputs }) => findOutputs(where)),
    stages: {
      subtitles: join(({ stages }) => stages.subtitles),
      finished: join(({ stages }) => stages.finished),
    },
    damages: all.flatMap(({ damages }) => damages),
    lostJobs: all.flatMap(({ lostJobs }) => lostJobs),
    damage: all.flatMap(({ damage }) => damage),
  };
}

/** @param rowsOf returns the rows of a table with a value, or all, in the order in which they were first written */
export function viewRecords(
  rowsOf: (table: string, where?: Row) => readonly Row[],
  folder: string,
): BatchRecords {
  return {
    get isEmpty() {
      return !['batch', 'items', 'checks', 'attempts', 'commands', 'damages'].some(
        (table) => rowsOf(table).length > 0,
      );
    },
    get name() {
      const [row] = rowsOf('batch');
      return row === undefined ? null : { batch: String(row.name), is_certain: row.is_certain === 1 };
    },
    get attempts() {
      return gatherAttempts(rowsOf('attempts').map((row) => readAttempt(row, folder)));
    },
    get facts() {
      // Others have only what was made of their jobs.
      const known = rowsOf('items').filter(({ kind }) => kind !== null);
      return new Map(known.map((row) => [String(row.key), readFacts(row, folder)]));
    },
    get checked() {
      const checks = rowsOf('checks');
      const isUsable = ({ detail }: Row) => detail === null;
      const unusable = checks.filter((row) => !isUsable(row)).map(readUnusable);
      return {
        unusable: new Map(unusable.map((check) => [check.item, check])),
        usable: new Set(checks.filter(isUsable).map(({ item }) => String(item))),
      };
    },
    get commands() {
      const items = Map.groupBy(rowsOf('command_items'), ({ command }) => command);
      return rowsOf('commands').map(({ identity, ...row }) => ({
        ...(row as Row & BatchCommand), // as it was written
        type: 'batch_command' as const,
        argv: read<string[]>(row.argv),
        host: optionalText(row.host),
        operands: read<string[]>(row.operands),
        options: read<BatchCommand['options']>(row.options),
        partial: row.partial === 1 || undefined,
        items: (items.get(identity) ?? []).map(({ item }) => String(item)),
      }));
    },
    get begun() {
      const begun = new Map<string, number>();
      for (const { item, begun_at } of rowsOf('command_items')) {
        const ms = Date.parse(String(begun_at));
        begun.set(String(item), Math.max(ms, begun.get(String(item)) ?? 0));
      }
      return begun;
    },
    get provenances() {
      return mapOf<ItemProvenance>(rowsOf('attempts'), 'made_by', (made) =>
        mapLosses(made, fromFolder(folder)),
      );
    },
    get prepared() {
      return rowsOf('prepared').map((row) => ({
        type: 'prepared' as const,
        source: String(row.source),
        recipe: String(row.recipe),
        files: read<PreparedRecord['files']>(row.files),
        split: parse<unknown>(row.split),
      }));
    },
    findOutputs({ path, ...owner }) {
      const where = path === undefined ? owner : { path: relative(folder, path), ...owner };
      return rowsOf('outputs', where).map((row) => readOutput(row, folder));
    },
    get stages() {
      const rows = (['source', 'target'] as const).flatMap((step) => rowsOf('outputs', { step }));
      const subtitles = [...Map.groupBy(rows, ({ path }) => String(path))].map(([path, versions]) => ({
        ...{ path, video: String(versions[0]?.item), language: String(versions[0]?.language) },
        role: versions[0]?.step as WrittenSubtitle['role'], // as it was found
        digests: new Set(versions.map(({ sha256 }) => String(sha256))),
      }));
      return {
        subtitles: new Map(subtitles.map((subtitle) => [subtitle.path, subtitle])),
        finished: mapOf<FinishedVideo>(rowsOf('items'), 'video'),
      };
    },
    get damages() {
      const comparisons = rowsOf('comparisons');
      return rowsOf('damages').map((row) => ({
        type: 'log_damaged' as const,
        places: read<string[]>(row.places),
        kept: typeof row.kept === 'string' ? row.kept : null,
        comparedSince: comparisons
          .filter(({ damages }) => Number(damages) >= Number(row.number))
          .map(({ kind }) => kind as JobKind), // as it was written
      }));
    },
    get lostJobs() {
      return rowsOf('lost_jobs').map(({ kind, ...row }) => ({
        id: String(row.id),
        kind: kind as JobKind, // as it was written
        job: row.status === null ? null : (row as Row & LostJob), // likewise
      }));
    },
  };
}

/**
 * Writes one record, within a transaction.
 * @param folder of the results, absolute; paths below it become relative, so that it can be moved
 * @returns the attempts that it changed
 */
export function applyRecord(
  database: RecordDatabase,
  folder: string,
  record: BatchRecord,
): readonly Attempt[] {
  switch (record.type) {
    case 'asked':
    case 'changed':
    case 'downloaded': {
      // A request checks the item again.
      if (record.type === 'asked')
        database.remove('checks', { item: readPartKey(record.item)?.item ?? record.item });
      const [before] = database.find('attempts', { key: record.key }).map((row) => readAttempt(row, folder));
      return [writeAttempt(database, folder, advanceAttempt(before, record))];
    }
    case 'item_forgotten':
      database.remove('items', { key: record.item });
      database.remove('checks', { item: record.item });
      database.remove('command_items', { item: record.item });
      if (record.as === undefined) database.remove('outputs', { item: record.item });
      else
        for (const { path = null, sha256 = null } of database.find('outputs', { item: record.item }))
          database.change('outputs', { path, sha256 }, { item: record.as });
      return database
        .find('attempts', { item: record.item })
        .map((row) =>
          writeAttempt(database, folder, moveAttempt(readAttempt(row, folder), record.as ?? null)),
        );
    case 'batch_command':
      writeCommand(database, record);
      break;
    case 'item_facts': {
      const { type: _, item: key, ...facts } = record;
      database.change('items', { key }, columnsOf(mapPath(facts, intoFolder(folder))));
      break;
    }
    case 'unusable_input': {
      const { type: _, item, code, ...check } = record;
      database.change('checks', { item }, columnsOf({ ...check, code }));
      break;
    }
    case 'usable_input':
      database.change('checks', { item: record.item }, { detail: null });
      break;
    case 'batch_name':
      database.change('batch', { name: record.batch }, { is_certain: Number(record.is_certain) });
      break;
    case 'made':
      database.change(
        'attempts',
        { key: record.key },
        { made_by: json(mapLosses(record.provenance, intoFolder(folder))) },
      );
      break;
    case 'prepared': {
      const { source, recipe, files, split } = record;
      database.change('prepared', { source, recipe }, { files: json(files), split: json(split ?? null) });
      break;
    }
    case 'outputs':
      for (const file of record.files) writeOutput(database, folder, record, file);
      break;
    case 'stage_export':
      database.change('items', { key: record.item }, { video: json(record) });
      break;
    case 'log_damaged': {
      const number = database.find('damages').length + 1;
      database.change('damages', { number }, { places: json(record.places), kept: record.kept });
      break;
    }
    case 'jobs_compared': {
      const { kind, jobs, gone } = record;
      database.change('comparisons', { kind }, { damages: database.find('damages').length });
      for (const { id, ...job } of jobs) database.change('lost_jobs', { id }, { kind, ...job });
      for (const id of gone) database.change('lost_jobs', { id }, { kind, status: null });
      break;
    }
  }
  return [];
}

function writeCommand(database: RecordDatabase, { items, names, ...command }: BatchCommand): void {
  const { at } = command;
  const identity = commandIdentity(command);
  // The record of a run that watches or works in stages has only the items that were added at the time.
  const isWhole = command.options.watch !== true && command.partial !== true;
  if (isWhole) database.remove('command_items', { command: identity });
  const left = names === undefined ? null : new Set(names);
  for (const row of left === null ? [] : database.find('command_items', { command: identity })) {
    const item = String(row.item);
    if (!left?.has(nameOfKey(item) ?? '')) database.remove('command_items', { command: identity, item });
  }
  const { type: _, ...columns } = command;
  database.change('commands', { identity }, columnsOf({ host: null, partial: false, ...columns }));
  for (const item of items) {
    database.change('command_items', { command: identity, item }, { begun_at: at });
    database.remove('checks', { item });
  }
}

function writeOutput(
  database: RecordDatabase,
  folder: string,
  { item, step, made, language, is_placed }: OutputsRecord,
  { path: file, sha256, size, asset, kept }: StoredFile,
): void {
  const path = relative(folder, file);
  if (is_placed === true) database.remove('outputs', { path });
  database.change(
    'outputs',
    { path, sha256 },
    { item, step, made, language: language ?? null, size, asset: asset ?? null, kept: kept ?? null },
  );
}

/** A cast of what `writeOutput` has written; the checksum of the row fits. */
function readOutput({ path, sha256, item, step, made, size, ...row }: Row, folder: string): OutputRow {
  const { asset, kept, language } = row;
  return {
    ...{ item: String(item), step: step as OutputRow['step'], made: String(made) },
    ...{ path: resolve(folder, String(path)), sha256: String(sha256), size: Number(size) },
    ...(typeof language === 'string' ? { language } : {}),
    ...(typeof asset === 'string' ? { asset } : {}),
    ...(typeof kept === 'string' ? { kept } : {}),
  };
}

function readFacts({ key, sample_seconds, video: _, ...row }: Row, folder: string): ItemFacts {
  const facts = mapPath(row as Row & ItemFacts, fromFolder(folder)); // as it was written
  return {
    ...facts,
    type: 'item_facts',
    item: String(key),
    sample_seconds: Number(sample_seconds) || undefined,
    fields: read(row.fields),
  };
}

function readUnusable({ code, ...row }: Row): UnusableRecord {
  return { ...(row as Row & UnusableRecord), type: 'unusable_input', code: optionalText(code) }; // as it was written
}

function readAttempt({ made_by: _, ...row }: Row, folder: string): Attempt {
  return {
    ...(row as Row & Attempt), // as it was written
    request: read(row.request),
    is_free: row.is_free === 1,
    retryable: row.retryable === 1,
    files: (parse<StoredFile[]>(row.files) ?? []).map((file) => mapPath(file, fromFolder(folder))),
  };
}

function writeAttempt(database: RecordDatabase, folder: string, attempt: Attempt): Attempt {
  const { key, files } = attempt;
  const inFolder = files.length === 0 ? null : files.map((file) => mapPath(file, intoFolder(folder)));
  const row = { ...attempt, files: inFolder };
  database.change('attempts', { key }, columnsOf(row));
  return attempt;
}

/** Values as columns have them: lists and objects as JSON. */
function columnsOf(values: object): Row {
  const columns = Object.entries(values).map(([name, value = null]) => {
    if (typeof value === 'boolean') return [name, Number(value)];
    return [name, typeof value === 'object' ? json(value) : value];
  });
  return Object.fromEntries(columns);
}

type MapPath = (path: string) => string;

const intoFolder =
  (folder: string): MapPath =>
  (path) =>
    nameBelow(folder, path) ?? path;

const fromFolder =
  (folder: string): MapPath =>
  (path) =>
    resolve(folder, path);

function mapPath<T extends { readonly path: string | null }>(holder: T, map: MapPath): T {
  return holder.path === null ? holder : { ...holder, path: map(holder.path) };
}

function mapLosses(made: ItemProvenance, map: MapPath): ItemProvenance {
  if (made.lost_terms === undefined) return made;
  return { ...made, lost_terms: made.lost_terms.map((loss) => ({ ...loss, file: map(loss.file) })) };
}

/** The values of a column, by key; rows without one are left out. */
function mapOf<T>(
  rows: readonly Row[],
  column: string,
  adapt: (value: T) => T = (value) => value,
): ReadonlyMap<string, T> {
  return new Map(
    rows.flatMap((row) => {
      const value = parse<T>(row[column]);
      return value === null ? [] : [[String(row.key), adapt(value)] as const];
    }),
  );
}

function json(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

function parse<T>(text: Row[string] | undefined): T | null {
  return typeof text === 'string' ? read<T>(text) : null;
}

function optionalText(value: Row[string] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A value that `json` has written: the checksum of its row fits. */
function read<T>(text: Row[string] | undefined): T {
  return JSON.parse(String(text)) as T; // see above
}
