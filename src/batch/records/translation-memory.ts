/**
 * The translation memory: remembers the translation of each sentence, so that only sentences with changed cues are paid for
 * again. A sentence is found by its texts; of several translations, a person's comes before a machine's, then the one in the
 * nearest languages, then the one with the same neighbours, then the newest.
 */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { COMMON_FIELDS } from '../../protocol/fields.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { nearLanguages } from '../../protocol/languages.ts';
import { pairCues } from '../../protocol/pair-cues.ts';
import { normalizeCueText } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { BatchItem } from '../item.ts';
import { shortDigest } from '../short-digest.ts';
import { findTerms, type Terms } from '../terms.ts';
import type { RecordDatabase, Row, Schema } from './database.ts';
import { openRecords, readRecords } from './database.ts';
import { withMutex } from './hold.ts';
import { RECORD_FOLDER } from './record-folder.ts';

/** The origin of translations that a person wrote or imported: any service and engine may use them. */
export const PERSON = 'person';
/** Neighbours of a sentence that fits everywhere, such as an imported one. */
export const ANYWHERE = '*';
/** The source language of a request that leaves it to the service. */
export const AUTO = 'auto';

/** The language pair of a request, and what else decides about its translations. */
export interface MemoryRequest {
  /** BCP 47 tag, or `AUTO`. */
  readonly from: string;
  readonly to: string;
  /** The service or engines, and the other fields of the request. */
  readonly origin: string;
}

export interface Sentence {
  /** Indexes of its cues, which follow each other. */
  readonly cues: readonly number[];
  /** Their texts. */
  readonly source: readonly string[];
  /** Digests of the neighbouring sentences; empty for none, or `ANYWHERE`. */
  readonly before: string;
  readonly after: string;
  /** Digest of the terms that occur in it; empty for none. */
  readonly terms: string;
}

/** A remembered translation. */
export interface MemoryEntry extends MemoryRequest, Omit<Sentence, 'cues'> {
  /** A text for each of `source`. */
  readonly target: readonly string[];
  /** When it was written, RFC 3339. */
  readonly at: string;
}

/** A cue of a source, and its text in the result; null for none. */
interface WrittenCue {
  readonly start_ms: number;
  readonly text: string | null;
}

/** The lines of a result, as they were written. */
interface WrittenResult {
  readonly from: string;
  readonly to: string;
  readonly sentences: readonly (Omit<Sentence, 'cues'> & {
    readonly target: readonly string[];
    /** The start of each cue, in milliseconds. */
    readonly starts: readonly number[];
  })[];
}

const MEMORY_SCHEMA: Schema = {
  // `vloT`
  applicationId: 0x766c6f54,
  version: 1,
  // Lists are JSON. Paths are relative to the folder of the file, so that both can be moved.
  sql: `
    CREATE TABLE sentences (
      target_language TEXT, source TEXT, source_language TEXT, before TEXT, after TEXT, terms TEXT, origin TEXT,
      target TEXT, at TEXT, checksum TEXT,
      PRIMARY KEY (target_language, source, source_language, before, after, terms, origin)
    ) STRICT;
    CREATE TABLE results (path TEXT PRIMARY KEY, size INTEGER, mtime_ms INTEGER, written TEXT, checksum TEXT) STRICT;`,
};

/** The memory of a folder of results, which its shards share. @param folder absolute */
export function memoryPath(folder: string): string {
  return join(folder, RECORD_FOLDER, 'memory.db');
}

export interface Memory {
  /** Absolute. */
  readonly path: string;
  /** The translation of each sentence; null for one that is not remembered. */
  recall(request: MemoryRequest, sentences: readonly Sentence[]): (readonly string[] | null)[];
  /**
   * Remembers sentences that have a text for each cue. A text that is known already keeps its origin.
   * @param texts by cue; null for none
   * @throws Failure (`disk`; `temporary`)
   */
  remember(
    request: MemoryRequest,
    sentences: readonly Sentence[],
    texts: readonly (string | null)[],
  ): Promise<void>;
  /** Remembers what a result has, to notice later which of its lines a person edits. @param path absolute */
  noteResult(
    path: string,
    request: MemoryRequest,
    sentences: readonly Sentence[],
    cues: readonly WrittenCue[],
  ): Promise<void>;
  /** Remembers the lines that a person has edited in results since. @returns their number */
  collectEdits(): Promise<number>;
  /** Adds entries. One that is older than what is known of the same text is left out. */
  add(entries: readonly MemoryEntry[]): Promise<void>;
  list(): readonly MemoryEntry[];
  /** Whether it has translations that a person wrote or imported. */
  hasPersonal(): boolean;
  close(): Promise<void>;
}

interface MemoryOptions {
  /** Uses the translations of all services and engines. */
  readonly any?: boolean;
  /** False to change nothing, as for a plan. */
  readonly writes?: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

type ReadRows = Pick<RecordDatabase, 'find' | 'values'>;
const EMPTY: ReadRows = { find: () => [], values: () => [] };

/**
 * Opens the memory in a file, which is created by the first writing.
 * @throws Failure (`disk`; `temporary`, RECORDS_BUSY; `usage`, RECORDS_TOO_NEW)
 */
export async function openMemory(
  path: string,
  { any = false, writes = true, now }: MemoryOptions,
): Promise<Memory> {
  const open = async () => {
    const exclusively = (work: () => Promise<void>) => withMutex(`${path}.lock`, work);
    return (await openRecords(path, MEMORY_SCHEMA, { exclusively })).database;
  };
  const isThere = (await stat(path).catch(() => null)) !== null;
  let database = writes && isThere ? await open() : null;
  let opening: Promise<RecordDatabase> | null = null;
  const copy = isThere && !writes ? await readAll(path) : null;
  const rows = () => copy ?? database ?? EMPTY;
  /** Keys of the rows of this run: what one item has paid does not change what the plan said about the next. */
  const own = new Set<string>();

  async function write(work: (records: RecordDatabase) => void): Promise<void> {
    opening ??= database === null ? open() : Promise.resolve(database);
    const records = await opening;
    database = records;
    await records.write(() => work(records));
  }

  const entriesFor = (to: string, source: readonly string[]) =>
    rows()
      .find('sentences', { target_language: to, source: JSON.stringify(source) })
      .map(readEntry);

  let languages: readonly string[] | null = null;
  /** Lines of other programs for a text without line breaks, which they have not, and in regions of a language. */
  function anywhereFor(to: string, source: readonly string[]): MemoryEntry[] {
    languages ??= rows().values('sentences', 'target_language').map(String);
    const [first = ''] = source;
    const oneRow = source.length === 1 && first.includes('\n') ? [[first.replaceAll('\n', ' ')]] : [];
    const near = nearLanguages(to, languages);
    return near
      .flatMap((tag) => (tag === to ? oneRow : [source, ...oneRow]).flatMap((text) => entriesFor(tag, text)))
      .filter(isFromElsewhere);
  }

  function put(records: RecordDatabase, entry: MemoryEntry): void {
    const [key, columns] = rowOf(entry);
    const [known] = records.find('sentences', key);
    if (known?.target === columns.target) return;
    records.change('sentences', key, columns);
    if (known === undefined) own.add(JSON.stringify(key));
  }

  return {
    path,
    recall: (request, sentences) =>
      sentences.map((sentence) => {
        const all = [...entriesFor(request.to, sentence.source), ...anywhereFor(request.to, sentence.source)];
        const known = all.filter((entry) => !own.has(JSON.stringify(rowOf(entry)[0])));
        return chooseEntry(known, request, sentence, any)?.target ?? null;
      }),
    async remember(request, sentences, texts) {
      const at = new Date(now()).toISOString();
      await write((records) => {
        for (const { cues, ...sentence } of sentences) {
          const target = cues.flatMap((cue) => texts[cue] ?? []);
          if (target.length < cues.length) continue;
          const same = entriesFor(request.to, sentence.source).filter((entry) =>
            isDeepStrictEqual(entry.target, target),
          );
          const known = same.find(({ origin }) => origin === PERSON) ?? (any ? same[0] : undefined);
          put(records, { ...request, origin: known?.origin ?? request.origin, ...sentence, target, at });
        }
      });
    },
    async noteResult(file, { from, to }, sentences, cues) {
      const found = await stat(file).catch(() => null);
      if (found === null) return;
      const written: WrittenResult = {
        from,
        to,
        sentences: sentences.map(({ cues: own, ...sentence }) => {
          // A cue without a translation may get one from a person.
          const target = own.map((at) => cues[at]?.text ?? '');
          const starts = own.map((at) => cues[at]?.start_ms ?? 0);
          return { ...sentence, target, starts };
        }),
      };
      await write((records) => {
        records.change('results', { path: nameOf(path, file) }, factsOf(found, written));
      });
    },
    async collectEdits() {
      let count = 0;
      const at = new Date(now()).toISOString();
      for (const row of rows().find('results')) {
        const file = resolve(dirname(path), String(row.path));
        const found = await stat(file).catch(() => null);
        if (found === null || !found.isFile() || isUntouched(row, found)) continue;
        const lines = await readLines(file);
        if (lines === null) continue;
        const before = JSON.parse(String(row.written)) as WrittenResult; // as noteResult wrote it
        const edited = before.sentences.map(
          (sentence, place) => editOf(before, place, lines) ?? sentence.target,
        );
        await write((records) => {
          for (const [place, { starts: _, ...sentence }] of before.sentences.entries()) {
            const target = edited[place] ?? sentence.target;
            if (isDeepStrictEqual(target, sentence.target)) continue;
            count += target.filter((text, cue) => text !== sentence.target[cue]).length;
            const { from, to } = before;
            const [key, columns] = rowOf({ ...sentence, from, to, origin: PERSON, target, at });
            records.change('sentences', key, columns);
          }
          const sentences = before.sentences.map((each, place) => ({
            ...each,
            target: edited[place] ?? each.target,
          }));
          records.change('results', { path: row.path ?? '' }, factsOf(found, { ...before, sentences }));
        });
      }
      return count;
    },
    add: (entries) =>
      write((records) => {
        for (const entry of entries) {
          const [key, columns] = rowOf(entry);
          const [known] = records.find('sentences', key);
          if (known === undefined || Date.parse(String(known.at)) <= Date.parse(entry.at))
            records.change('sentences', key, columns);
        }
      }),
    list: () => rows().find('sentences').map(readEntry),
    hasPersonal: () => rows().values('sentences', 'origin').includes(PERSON),
    async close() {
      await database?.close();
    },
  };
}

/** The question of a translation request. @param origin the service or the engines */
export function memoryRequestOf(
  { fields, targetLanguage }: Pick<BatchItem, 'fields' | 'targetLanguage'>,
  origin: string,
): MemoryRequest {
  const { source_language: from = AUTO, target_language: _, ...rest } = fields;
  const others = Object.entries(rest).filter(([name]) => !(name in COMMON_FIELDS));
  const more = others.length === 0 ? '' : ` ${shortDigest(JSON.stringify(others.toSorted(byText)))}`;
  return { from: tagOf(String(from)), to: tagOf(targetLanguage ?? ''), origin: origin + more };
}

/** The sentences of subtitles. @param masks whether terms are replaced by placeholders */
export async function sentencesOf(
  lines: readonly SubtitleLine[],
  to: string,
  terms: Terms | undefined,
  masks: boolean,
): Promise<readonly Sentence[]> {
  const { groupSentences } = await import('../../media/subtitles/sentences.ts');
  const texts = lines.map(({ text }) => normalizeCueText(text));
  const groups = groupSentences(
    lines.map(({ start_ms, end_ms }, at) => ({
      text: texts[at] ?? '',
      startMs: start_ms,
      endMs: end_ms,
      isWhole: true,
    })),
  );
  const sources = groups.map((cues) => cues.map((cue) => texts[cue] ?? ''));
  const digests = sources.map((source) => shortDigest(JSON.stringify(source)));
  const wanted = terms?.in(to) ?? [];
  const find = findTerms(wanted);
  return groups.map((cues, at) => {
    const source = sources[at] ?? [];
    const found = wanted.length === 0 ? [] : find(source.join('\n'));
    return {
      cues,
      source,
      before: digests[at - 1] ?? '',
      after: digests[at + 1] ?? '',
      terms: found.length === 0 ? '' : shortDigest(JSON.stringify([found, masks])),
    };
  });
}

/** The texts of a translation by cue of its source; null for those that have none. */
export function alignTexts(
  source: readonly SubtitleLine[],
  translated: readonly SubtitleLine[],
): (string | null)[] {
  return pairCues(source, translated).map((cue) => cue?.text ?? null);
}

/** Whether it was imported from another program, which knows no neighbours. */
export function isFromElsewhere({ origin, before }: MemoryEntry): boolean {
  return origin === PERSON && before === ANYWHERE;
}

/** The best translation among those of the same texts; undefined if none may be used. */
function chooseEntry(
  known: readonly MemoryEntry[],
  { from, to, origin }: MemoryRequest,
  { source, before, after, terms }: Sentence,
  any: boolean,
): MemoryEntry | undefined {
  const near = nearLanguages(from, [...new Set(known.map((entry) => entry.from))]);
  const fits = (entry: MemoryEntry) => {
    if (entry.target.length !== source.length) return false;
    // A person has seen both texts, whoever detected the language.
    if (isFromElsewhere(entry) && near.includes(entry.from)) return true;
    if (entry.origin === PERSON) return entry.from === from || [entry.from, from].includes(AUTO);
    const isUsed = entry.origin === origin || (any && origin !== PERSON);
    return isUsed && entry.from === from && entry.terms === terms;
  };
  const targets = nearLanguages(to, [...new Set(known.map((entry) => entry.to))]);
  const rank = (entry: MemoryEntry): readonly number[] => {
    const isSame = [entry.before === before, entry.after === after];
    const neighbours = isSame.filter(Boolean).length;
    return [
      Number(entry.origin === PERSON),
      -targets.indexOf(entry.to),
      -Math.max(0, near.indexOf(entry.from)),
      // A translation for all places is as good as one for this place, unless there is one.
      entry.before === ANYWHERE ? 2 : neighbours === 2 ? 3 : neighbours,
      Number(entry.origin === origin),
      Date.parse(entry.at),
    ];
  };
  const ranked = known.filter(fits).map((entry) => ({ entry, rank: rank(entry) }));
  return ranked.toSorted((one, other) => compareRanks(other.rank, one.rank))[0]?.entry;
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, place) => value !== other[place]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** The texts of a sentence in a file that was edited; null if a cue of it is gone. */
function editOf(
  { sentences }: WrittenResult,
  place: number,
  lines: readonly SubtitleLine[],
): readonly string[] | null {
  const starts = sentences[place]?.starts ?? [];
  const total = sentences.reduce((sum, sentence) => sum + sentence.starts.length, 0);
  // Moved cues have other times, but are as many as before.
  const first = sentences.slice(0, place).reduce((sum, sentence) => sum + sentence.starts.length, 0);
  const found =
    total === lines.length
      ? lines.slice(first, first + starts.length)
      : starts.map((start) => lines.find(({ start_ms }) => start_ms === start));
  const texts = found.flatMap((line) => line?.text ?? []);
  return texts.length < starts.length ? null : texts;
}

export async function readLines(path: string): Promise<readonly SubtitleLine[] | null> {
  const { readWordLines } = await import('../../media/subtitles/read-subtitle.ts');
  try {
    return readWordLines(await readFile(path), path);
  } catch {
    // Such as a file that a person emptied: it has no lines to remember.
    return null;
  }
}

/** The rows of a file that is not changed, found like those of an open one. */
async function readAll(path: string): Promise<ReadRows> {
  const { rows } = await readRecords(path, MEMORY_SCHEMA);
  const bySource = Map.groupBy(rows.get('sentences') ?? [], (row) =>
    JSON.stringify([row.target_language, row.source]),
  );
  return {
    find: (table, where) =>
      where === undefined
        ? [...(rows.get(table) ?? [])]
        : (bySource.get(JSON.stringify([where.target_language, where.source])) ?? []),
    values: (table, column) => [...new Set(rows.get(table)?.map((row) => row[column] ?? null))],
  };
}

function rowOf({ to, from, source, before, after, terms, origin, target, at }: MemoryEntry): [Row, Row] {
  const languages = { target_language: to, source: JSON.stringify(source), source_language: from };
  return [
    { ...languages, before, after, terms, origin },
    { target: JSON.stringify(target), at },
  ];
}

/** A cast of what `rowOf` has written; the checksum of the row fits. */
function readEntry(row: Row): MemoryEntry {
  return {
    from: String(row.source_language),
    to: String(row.target_language),
    source: JSON.parse(String(row.source)) as string[],
    before: String(row.before),
    after: String(row.after),
    terms: String(row.terms),
    origin: String(row.origin),
    target: JSON.parse(String(row.target)) as string[],
    at: String(row.at),
  };
}

interface FileFacts {
  readonly size: number;
  readonly mtimeMs: number;
}

function factsOf({ size, mtimeMs }: FileFacts, written: WrittenResult): Row {
  return { size, mtime_ms: Math.round(mtimeMs), written: JSON.stringify(written) };
}

function isUntouched(row: Row, { size, mtimeMs }: FileFacts): boolean {
  return row.size === size && row.mtime_ms === Math.round(mtimeMs);
}

/** `/` between folders, so that a folder can be moved to another system. */
function nameOf(path: string, file: string): string {
  return relative(dirname(path), file).replaceAll('\\', '/');
}

function tagOf(tag: string): string {
  return tag === AUTO ? AUTO : (canonicalLanguage(tag) ?? tag);
}

function byText(one: readonly [string, unknown], other: readonly [string, unknown]): number {
  return one[0] < other[0] ? -1 : 1;
}
