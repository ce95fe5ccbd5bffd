/** Checks translations for missing cues, and for the terms of --terms, and records both for reports. */

import { findMissingCues, type TimedCue } from '../../protocol/pair-cues.ts';
import { readResultLines } from '../deliver/result-lines.ts';
import type { BatchItem, ItemFile, ItemState } from '../item.ts';
import type { ItemProvenance, MissingCue } from '../item-provenance.ts';
import type { Recorded } from '../plan/decision.ts';
import type { BatchRecord } from '../records/batch-records.ts';
import { findLostTerms, type TermLoss, type Terms } from '../terms.ts';
import type { Batch } from './batch.ts';
import type { BatchJournal } from './journal.ts';
import { cuesMissingFailure } from './outcome.ts';
import type { Run } from './run.ts';
import { linesOfJob } from './sources.ts';

type DoneState = Extract<ItemState, { phase: 'done' }>;
type FailedState = Extract<ItemState, { phase: 'failed' }>;
type Lines = readonly TimedCue[];

interface TranslationChecks {
  readonly batch: Pick<Batch, 'terms' | 'masksTerms' | 'warn'> & {
    readonly delivery: Pick<Batch['delivery'], 'toStdout'>;
  };
  readonly journal: CheckRecords;
}

export type CheckRecords = Pick<BatchJournal, 'add' | 'attempts' | 'provenanceOf'>;

/** The records that say how results were made. */
export type MadeResults = Pick<Recorded, 'attempts' | 'provenances'>;

export function madeIn({ attempts, provenanceOf }: Omit<CheckRecords, 'add'>): MadeResults {
  return { attempts, provenances: { get: provenanceOf } };
}

/** Reads lines that are not in an item; null if this machine cannot. */
export type ReadSource = () => Promise<Lines | null>;

/**
 * The state of a finished item by what its translation lacks now, which may have been edited since it was made: cues that were
 * missing when it came, which make it fail, and terms.
 */
export async function checkTranslation(
  { batch: { terms, masksTerms, warn, delivery }, journal }: TranslationChecks,
  item: BatchItem,
  state: DoneState,
  readSource: ReadSource = async () => null,
): Promise<DoneState | FailedState> {
  const path = state.files[0]?.path;
  // In a localization the file beside the video is checked.
  if (!isWholeTranslation(item) || item.isInner === true) return state;
  const isHere = state.before === null || state.before === 'downloaded';
  if (path === undefined || !isHere) return state;
  const wanted = (terms?.in(item.targetLanguage ?? '').length ?? 0) > 0;
  const known = knownMissing(madeIn(journal), item.key);
  if (!wanted && known.length === 0) return state;
  const source = item.input.type === 'lines' ? item.input.lines : await readSource();
  const translated = await readTranslation(path);
  const cues = typeof translated === 'string' ? [] : translated;
  const missing = stillMissing(known, source, cues);
  const file = delivery.toStdout === true ? '-' : path;
  const isComparable = source !== null && typeof translated !== 'string';
  const losses =
    wanted && terms !== undefined && isComparable
      ? findLosses(terms, item.targetLanguage, source, { lines: cues, file, missing, masksTerms })
      : null;
  if (wanted && losses === null) {
    const why = typeof translated === 'string' ? translated : 'its source is not on this machine';
    warn(`${item.label}: its terms were not checked: ${why}.`);
  }
  await recordChecks(journal, item.key, { missing, losses });
  const found = {
    ...(missing.length > 0 ? { missing_cues: missing } : {}),
    ...((losses?.length ?? 0) > 0 ? { lost_terms: losses ?? [] } : {}),
  };
  const isFlawless = Object.keys(found).length === 0;
  const provenance = isFlawless
    ? {}
    : { provenance: { engines: [], cues: [], ...state.provenance, ...found } };
  if (missing.length === 0) return { ...state, ...provenance };
  const failure = cuesMissingFailure(missing, path);
  return { phase: 'failed', jobId: state.jobId, failure, ...provenance };
}

/** A part is not checked: its result is one of several. */
function isWholeTranslation({ kind, part }: BatchItem): boolean {
  return kind === 'subtitle_translation' && part === undefined;
}

/**
 * The record of the cues of a source that a delivered translation lacks, for the same transaction as that of the delivery. None if
 * nothing is missing, or if the source is not known.
 * @param key of the attempt
 * @param made how the job made the result
 */
export async function missingRecords(
  { batch }: Pick<Run, 'batch'>,
  item: BatchItem,
  key: string,
  [file]: readonly ItemFile[],
  made: ItemProvenance | null,
): Promise<readonly (BatchRecord & { type: 'made' })[]> {
  if (!isWholeTranslation(item) || file === undefined) return [];
  const source = await readLines(batch, item);
  const translated = source === null ? '' : await readTranslation(file.path);
  if (source === null || typeof translated === 'string') return [];
  const missing = new Set(findMissingCues(source, translated));
  if (missing.size === 0) return [];
  const missing_cues = source.flatMap((cue, at): MissingCue[] => {
    const { start_ms, end_ms, text } = cue;
    return missing.has(cue) ? [{ cue: at + 1, start_ms, end_ms, text }] : [];
  });
  return [{ type: 'made', key, provenance: { engines: [], cues: [], ...made, missing_cues } }];
}

async function readLines({ connection, signal }: Batch, { input }: BatchItem): Promise<Lines | null> {
  if (input.type === 'lines') return input.lines;
  if (input.type !== 'job') return null;
  return linesOfJob(connection.client, input.reference, signal).catch(() => null);
}

/** The cues that a translation lacked when it came, or at a later check. @param item its key */
export function knownMissing({ attempts, provenances }: MadeResults, item: string): readonly MissingCue[] {
  const key = attempts.byItem.get(item)?.at(-1);
  return (key === undefined ? null : provenances?.get(key))?.missing_cues ?? [];
}

/**
 * Those that the text still lacks; cues that a person took out are none.
 * @param source null if it is not known
 */
export function stillMissing(
  known: readonly MissingCue[],
  source: Lines | null,
  translated: Lines,
): readonly MissingCue[] {
  if (known.length === 0) return [];
  const starts = new Set(known.map(({ start_ms }) => start_ms));
  const others = (source ?? []).filter(({ start_ms }) => !starts.has(start_ms));
  const cues = [...others, ...known].toSorted((left, right) => left.start_ms - right.start_ms);
  const missing = new Set(findMissingCues(cues, translated));
  return known.filter((cue) => missing.has(cue));
}

interface CheckedTranslation {
  readonly lines: Lines;
  /** Absolute, or `-`. */
  readonly file: string;
  /** Its cues without a translation, whose terms are not lost. */
  readonly missing: readonly MissingCue[];
  /** See `Batch`. */
  readonly masksTerms?: boolean | undefined;
}

/** The terms that a translation lacks. @param language its target language */
export function findLosses(
  terms: Terms,
  language: string | null,
  source: Lines,
  { lines, file, missing, masksTerms }: CheckedTranslation,
): readonly TermLoss[] {
  const absent = new Set(missing.map(({ cue }) => cue));
  const lost = findLostTerms(terms.in(language ?? ''), source, lines);
  const is_masked = masksTerms || undefined;
  return lost.flatMap((each) => (absent.has(each.row) ? [] : [{ file, ...each, is_masked }]));
}

interface Checks {
  readonly missing: readonly MissingCue[];
  /** Null if they were not checked: those of an earlier check stay. */
  readonly losses: readonly TermLoss[] | null;
}

/** Records them for reports, in place of those of an earlier check. @param item its key */
export async function recordChecks(
  { attempts, provenanceOf, add }: CheckRecords,
  item: string,
  { missing, losses }: Checks,
): Promise<void> {
  const key = attempts.byItem.get(item)?.at(-1);
  if (key === undefined) return;
  const before = provenanceOf(key) ?? { engines: [], cues: [] };
  const { lost_terms: lostBefore = [], missing_cues: missingBefore, ...made } = before;
  const lost = losses ?? lostBefore;
  const provenance = {
    ...made,
    ...(lost.length === 0 ? {} : { lost_terms: lost }),
    // Once cues were missing, the file is one that a person completes.
    ...(missingBefore === undefined ? {} : { missing_cues: missing }),
  };
  if (JSON.stringify(provenance) !== JSON.stringify(before)) await add({ type: 'made', key, provenance });
}

/** The cues of a result; the reason if it cannot be read. */
async function readTranslation(path: string): Promise<Lines | string> {
  try {
    return await readResultLines(path);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
