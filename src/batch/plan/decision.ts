/** Decides what remains to be done for each item after earlier runs into the same folder. Pure. */

import { KINDS, type Kind } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Units } from '../bill.ts';
import { countParts, isCopied, isSplit, type UnusableInput } from '../input.ts';
import { fileUnits, keptResult, unitsOfLines } from '../inputs/items.ts';
import { isOfOneLanguage } from '../inputs/one-file.ts';
import { describeChange } from '../inputs/requests.ts';
import type { BatchItem, DoneBefore } from '../item.ts';
import type { ItemProvenance } from '../item-provenance.ts';
import { nameWork } from '../kept-tracks.ts';
import type { Attempt, Attempts, StoredFile } from '../records/attempts.ts';
import { type ItemFacts, sampleOf, trackOf } from '../records/item-facts.ts';
import {
  askedMs,
  isJoinedKey,
  newestAttempt,
  ownFiles,
  partAttempts,
  readPartKey,
} from '../records/item-key.ts';
import {
  lastSeenMs,
  type NewAttempt,
  type NextStep,
  nextStep,
  nextStepForItem,
} from '../records/next-step.ts';
import type { FindOutputs } from '../records/outputs.ts';
import type { PreparedRecord } from '../records/part-records.ts';
import { AUTOMATIC } from '../result-name.ts';
import type { Redub, RedubChoices } from './redub.ts';

export type Decision =
  /**
   * A new job with a new key; `after` is why an earlier one returned nothing. `replaces`: results of earlier jobs of the item,
   * which it may replace while their bytes are those recorded. `redub`: only a part of it is made again.
   */
  | {
      readonly step: 'new';
      readonly after: NewAttempt['after'];
      readonly replaces?: readonly StoredFile[];
      readonly redub?: Redub;
    }
  /** Costs nothing more: send the same request again, wait for the job, or download its result. */
  | { readonly step: 'continue'; readonly next: Exclude<NextStep, { step: 'nothing' }> | PartsBegun }
  | {
      readonly step: 'done';
      readonly before: DoneBefore;
      readonly jobId: string | null;
      readonly files: readonly StoredFile[];
      /** Lines of a translation that the memory has in other words; missing for none. */
      readonly otherLines?: number;
    }
  /** Done or started with another input or other options. `changes` describes each in a few words. */
  | {
      readonly step: 'changed';
      /** `tracks`: only the tracks that are added to the result on this machine. */
      readonly what: 'file' | 'options' | 'tracks';
      readonly changes: readonly string[];
    }
  /** A result was changed on this disk after the download. */
  | { readonly step: 'edited'; readonly path: string }
  /** The job failed permanently. */
  | { readonly step: 'failed'; readonly jobId: string; readonly code: string; readonly message: string }
  /** By the local clock the service has deleted the job, and there is no result here. The run asks the service. */
  | { readonly step: 'expired'; readonly jobId: string | null; readonly key: string }
  /** The file, or with a code the request, cannot be used: the item fails on this machine, and nothing is sent. */
  | { readonly step: 'unusable'; readonly detail: string; readonly code?: string };

/** Some parts of the item have requests. Each part has a decision of its own. */
interface PartsBegun {
  readonly step: 'parts';
  /** Parts that need a new job, and their units; null if they are not known. */
  readonly due: { readonly jobs: number; readonly units: Units | null };
}

/** The content of the journal of the folder. */
export interface Recorded {
  readonly attempts: Attempts;
  /** By item key. */
  readonly facts: ReadonlyMap<string, ItemFacts>;
  readonly findOutputs?: FindOutputs;
  /** Files made of inputs. */
  readonly prepared?: readonly PreparedRecord[];
  /** How results were made, by key of the attempt. */
  readonly provenances?: { get(key: string): ItemProvenance | null | undefined };
}

interface Situation {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** --fresh: ignore earlier runs. */
  readonly fresh: boolean;
  /** --clobber: re-create results of changed inputs. */
  readonly replace: boolean;
  /** --retry-failed: also run items that failed permanently. */
  readonly retryFailed: boolean;
  /** --skip-done: a recorded download counts, even if its files are gone or changed. */
  readonly skipDone?: boolean | undefined;
  /** SHA-256 of the inputs for which `needsHash` is true, by item key. */
  readonly hashes: ReadonlyMap<string, string>;
  /** Sizes of existing result files, by path. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Keys of items with another input file than before, and without a result that the user has edited. */
  readonly outdated: ReadonlySet<string>;
}

/** What the memory has for finished translations. */
export interface OtherLines {
  /** Counts the lines of a translation that a person has translated in other words than its file has; all of them for null. */
  readonly count: (item: BatchItem, path: string | null) => Promise<number>;
  /** --clobber: they are used. Jobs in stages replace results also without. */
  readonly isUsed: boolean;
}

export type Choices = Pick<Situation, 'now' | 'fresh' | 'replace' | 'retryFailed' | 'skipDone'> & {
  /** SHA-256 of a file, lower-case hex. */
  readonly hashFile: (path: string) => Promise<string>;
  /** Missing without lines of persons in the memory. */
  readonly otherLines?: OtherLines | undefined;
  /** Missing for anything but whole dubs. `folder`: that of the records. */
  readonly redub?: (RedubChoices & { readonly folder: string }) | undefined;
};

/** Decides about one item. An input that may have a job never gets a second one automatically. */
export function decideItem(item: BatchItem, recorded: Recorded, situation: Situation): Decision {
  const decision = decideStep(item, recorded, situation);
  if (decision.step !== 'new' || situation.fresh) return decision;
  const replaces = ownFiles(item.key, recorded);
  return replaces.length === 0 ? decision : { ...decision, replaces };
}

function decideStep(item: BatchItem, recorded: Recorded, situation: Situation): Decision {
  if (item.input.type === 'unusable') return decideUnusable(item, item.input, recorded, situation);
  if (situation.fresh) return { step: 'new', after: null };
  if (isCopied(item.input)) return decideCopied(item, recorded, situation);
  if (isSplit(item.input)) return decideSplit(item, recorded, situation);
  const next = nextStepForItem(recorded.attempts, item.key, situation.now);
  const change = findChange(item, recorded, situation);
  if (next.step === 'intend') return change === null ? again(next, situation) : startAnew(next);
  if (change !== null) {
    return decideChanged(item, change, { isOver: next.step === 'nothing', situation });
  }
  if (next.step !== 'nothing') return { step: 'continue', next };
  const { because, key } = next;
  switch (because.reason) {
    case 'downloaded':
      return afterDownload(item, key, because.files, recorded, situation);
    case 'expired':
      return { step: 'expired', jobId: because.jobId, key };
    case 'refused':
    case 'failed':
    case 'cancelled':
      return { step: 'new', after: because };
  }
}

/** The options of jobs do not change a copy. One that is gone is made again. */
function decideCopied(item: BatchItem, recorded: Recorded, situation: Situation): Decision {
  const next = nextStepForItem(recorded.attempts, item.key, situation.now);
  const isMade = next.step === 'nothing' && next.because.reason === 'downloaded';
  if (!isMade || findChange(item, recorded, situation)?.what === 'file') return { step: 'new', after: null };
  const then = afterDownload(item, next.key, next.because.files, recorded, situation);
  return then.step === 'done' || then.step === 'edited' ? then : { step: 'new', after: null };
}

/** An earlier job of the file is still awaited, and an earlier result of the unchanged file still counts. */
function decideUnusable(
  item: BatchItem,
  { bytes, mtimeMs, detail }: UnusableInput,
  recorded: Recorded,
  situation: Situation,
): Decision {
  const { attempts, facts } = recorded;
  const unusable: Decision = { step: 'unusable', detail };
  if (situation.fresh) return unusable;
  const next = nextStepForItem(attempts, item.key, situation.now);
  if (next.step === 'attach' || next.step === 'download') return { step: 'continue', next };
  if (next.step !== 'nothing' || next.because.reason !== 'downloaded') return unusable;
  const known = facts.get(item.key);
  const isSame = known !== undefined && known.size === bytes && known.mtime_ms === mtimeMs;
  const then = afterDownload(item, next.key, next.because.files, recorded, situation);
  return isSame && then.step === 'done' ? then : unusable;
}

function startAnew({ after }: NewAttempt): Decision {
  return { step: 'new', after };
}

/** Retries refused and cancelled jobs. Of failed jobs only those with a retryable failure. */
function again({ after }: NewAttempt, { retryFailed }: Situation): Decision {
  if (after?.reason !== 'failed' || retryFailed || after.error?.retryable === true)
    return { step: 'new', after };
  const { code = 'JOB_FAILED', message = 'the service gave no reason' } = after.error ?? {};
  return { step: 'failed', jobId: after.jobId, code, message };
}

function afterDownload(
  item: BatchItem,
  key: string,
  files: readonly StoredFile[],
  { attempts, provenances }: Recorded,
  { sizes, replace, skipDone = false, now }: Situation,
): Decision {
  const attempt = attempts.byKey.get(key);
  const jobId = attempt?.job_id ?? null;
  // All of its lines were remembered.
  const isWithoutJob = jobId !== null && isJoinedKey(jobId);
  const done = { step: 'done', before: 'downloaded', jobId: isWithoutJob ? null : jobId, files } as const;
  if (files.every(({ path, size }) => sizes.get(path) === size)) {
    const kept = files[0]?.kept;
    // The file of an unusable input is gone, so nothing can be added from it.
    const now = nameWork(keptResult(item));
    const isHidden = files.some(({ path }) => isOfOneLanguage(path));
    const isInner = item.isInner === true;
    if (kept === now || item.input.type === 'unusable') {
      // It was made for a file with several languages, and is copied to its own name.
      const isCopiable = isHidden && !isInner && jobId !== null && !isWithoutJob;
      return isCopiable ? { step: 'continue', next: { step: 'download', key, jobId } } : done;
    }
    const changes = [`${kept ?? 'none'} → ${now ?? 'none'}`];
    // A result that vloc keeps for a file with several languages is no file of the user's, so nothing of theirs is replaced.
    if (!replace && !isHidden && !isInner) return { step: 'changed', what: 'tracks', changes };
  }
  if (skipDone) return { step: 'done', before: 'recorded', jobId, files: [] };
  const edited = files.find(({ path, size }) => sizes.has(path) && sizes.get(path) !== size);
  // Cues that were missing are for a person to fill in.
  const isIncomplete = provenances?.get(key)?.missing_cues !== undefined;
  if (edited !== undefined && !replace) return isIncomplete ? done : { step: 'edited', path: edited.path };
  if (attempt === undefined || jobId === null || now - lastSeenMs(attempt) >= LIMITS.retentionMs)
    return { step: 'expired', jobId, key };
  return { step: 'continue', next: { step: 'download', key, jobId } };
}

/** An item in parts is done when they are joined. Until then each part has a history of its own. */
function decideSplit(item: BatchItem, recorded: Recorded, situation: Situation): Decision {
  const { attempts } = recorded;
  const joined = newestAttempt(item.key, attempts);
  const parts = partAttempts(item.key, attempts);
  if (joined === null && parts.length === 0) return { step: 'new', after: null };
  const change = findChange(item, recorded, situation);
  if (change !== null) {
    return decideChanged(item, change, { isOver: joined?.state === 'downloaded', situation });
  }
  const lastMs = Math.max(...parts.map(askedMs));
  if (joined?.state === 'downloaded' && askedMs(joined) >= lastMs) {
    const then = afterDownload(item, joined.key, joined.files, recorded, situation);
    if (then.step === 'done' || then.step === 'edited' || then.step === 'changed') return then;
  }
  const failed = parts.map((attempt) => againFailed(attempt, situation)).find((each) => each !== null);
  return (
    failed ?? {
      step: 'continue',
      next: { step: 'parts', due: findDue(item, parts, recorded, situation.now) },
    }
  );
}

function findDue(
  { kind, input, key }: BatchItem,
  begun: readonly Attempt[],
  { attempts, facts, prepared = [] }: Recorded,
  now: number,
): PartsBegun['due'] {
  const going = new Map(
    begun.flatMap((attempt): [number, Attempt][] => {
      const { part = 0 } = readPartKey(attempt.item ?? '')?.name ?? {};
      return nextStepForItem(attempts, attempt.item ?? '', now).step === 'intend' ? [] : [[part, attempt]];
    }),
  );
  const count = readPartKey(begun[0]?.item ?? '')?.name.of ?? countParts(input);
  const due = Array.from({ length: count }, (_, at) => at).filter((at) => !going.has(at + 1));
  if (input.type === 'lines') {
    const parts = due.flatMap((at) => input.parts?.[at] ?? []);
    return { jobs: due.length, units: unitsOfLines(kind, parts) };
  }
  const cut = prepared.find(
    ({ source, files }) => source === facts.get(key)?.sha256 && files.length === count,
  );
  const lengths = due.map((at) => fileUnits(kind, cut?.files[at]?.seconds ?? null));
  const quantity = lengths.reduce((sum, units) => (units === null ? Number.NaN : sum + units.quantity), 0);
  const { unit } = KINDS[kind];
  return { jobs: due.length, units: Number.isNaN(quantity) ? null : { unit, quantity } };
}

/** The decision about a part that failed permanently; null for all others. */
function againFailed(attempt: Attempt, situation: Situation): Decision | null {
  const next = nextStep(attempt, situation.now);
  if (next.step !== 'nothing' || next.because.reason !== 'failed') return null;
  const decision = again({ step: 'intend', after: next.because }, situation);
  return decision.step === 'failed' ? decision : null;
}

/** A new job for another input file, unless the user has edited the result, or the job of the earlier file is still open. */
function decideChanged(
  { key }: BatchItem,
  change: Change,
  { isOver, situation }: { readonly isOver: boolean; readonly situation: Situation },
): Decision {
  if (situation.replace) return { step: 'new', after: null };
  if (change.what !== 'file') return change;
  if (isOver && situation.outdated.has(key)) return { step: 'new', after: null };
  const why = isOver ? 'its result was edited' : 'the result of that job was not downloaded';
  return { ...change, changes: [...change.changes, why] };
}

type Change = Extract<Decision, { step: 'changed' }>;

/** How an item differs from what its newest job was made for; null if it does not. */
export function findChange(
  item: BatchItem,
  { attempts, facts }: Recorded,
  { hashes }: Pick<Situation, 'hashes'>,
): Change | null {
  const known = facts.get(item.key);
  const asked = newestAttempt(item.key, attempts);
  const fields = known?.fields ?? asked?.request;
  const changes = fields === undefined ? [] : describeOptions(item, fields, asked);
  if (changes.length > 0) return { step: 'changed', what: 'options', changes };
  if (known !== undefined && known.audio_track !== trackOf(item)) {
    const changes = [`audio track ${known.audio_track} → ${trackOf(item)}`];
    return { step: 'changed', what: 'options', changes };
  }
  if (known !== undefined && (known.sample_seconds ?? null) !== sampleOf(item)) {
    const changes = [`sample ${known.sample_seconds ?? '?'} s → ${sampleOf(item) ?? '?'} s`];
    return { step: 'changed', what: 'options', changes };
  }
  const before = known?.sha256 ?? asked?.input_sha256 ?? null;
  if (item.input.type === 'lines') {
    if (before === null || before === item.input.sha256) return null;
    const { file, said = [] } = item.input;
    const isSameFile = file !== null && known?.size === file.bytes && known.mtime_ms === file.mtimeMs;
    const spoken = said.map(({ term, expected }) => `"${term}" is spoken as "${expected}"`);
    if (spoken.length === 0) spoken.push('names are spoken as they are written');
    return { step: 'changed', what: 'file', changes: isSameFile ? spoken : ['other subtitles'] };
  }
  if (item.input.type !== 'file' || known === undefined || known.size === null) return null;
  const { bytes, mtimeMs } = item.input;
  if (known.size !== bytes) {
    return { step: 'changed', what: 'file', changes: [`${known.size} → ${bytes} bytes`] };
  }
  if (known.mtime_ms === mtimeMs || (before !== null && before === hashes.get(item.key))) return null;
  return { step: 'changed', what: 'file', changes: ['other content of the same size'] };
}

/**
 * How the options of an item differ from those of an earlier request. To state the language that its job has found is no change.
 * @param attempt of the earlier request; null if it is not known
 */
export function describeOptions(
  { kind, fields }: BatchItem,
  before: BatchItem['fields'],
  attempt: Attempt | null,
): readonly string[] {
  const { state = 'asked', language = null } = attempt ?? {};
  const isOver = state !== 'asked' && state !== 'accepted' && state !== 'refused';
  const [asked, stated] = [before, fields].map(({ source_language = AUTOMATIC }) => source_language);
  if (!isOver || asked !== AUTOMATIC || stated === AUTOMATIC) return describeChange(kind, before, fields);
  // Only jobs whose result is in the spoken language report which one that is.
  const { fields: known }: Kind = KINDS[kind];
  const found = known.target_language === undefined ? language : null;
  const what = found === null ? 'the service does not say what it found' : `${found} was found`;
  const source_language = stated === found ? found : `${AUTOMATIC} (${what})`;
  return describeChange(kind, { ...before, source_language }, fields);
}

/** Whether the file has a new modification time but the same size: only its content shows whether it changed. */
export function needsHash(item: BatchItem, { attempts, facts }: Recorded): boolean {
  const known = facts.get(item.key);
  if (item.input.type !== 'file' || known === undefined) return false;
  const before = known.sha256 ?? newestAttempt(item.key, attempts)?.input_sha256 ?? null;
  return before !== null && known.size === item.input.bytes && known.mtime_ms !== item.input.mtimeMs;
}
