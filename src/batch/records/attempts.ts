/** The attempts of paid calls: their records, and the state that follows from the records of each. Source: design, "The record (journal)". */
import type { JobKind } from '../../protocol/kind-names.ts';
import { creationOf, VERSION_PREFIX } from '../../protocol/operations.ts';
import type { ItemFile } from '../item.ts';
import type { KeptTracks } from './kept-tracks.ts';
import { withoutSecrets } from './secrets.ts';

/** When an attempt entered each phase, RFC 3339. */
type PhaseTimes = Readonly<Partial<Record<Exclude<AttemptRecord['type'], 'publishing'>, string>>>;

/** All records of one attempt carry its Idempotency-Key, and the time at which they were written, RFC 3339. */
interface Common {
  readonly key: string;
  readonly at: string;
}

/** Durable before the request leaves. */
export interface IntendRecord extends Common {
  readonly type: 'intend';
  /** The name of the operation, such as `createDubbing`. */
  readonly operation: string;
  readonly kind: JobKind;
  /** Identity of the item, the same in every run: input file, language, kind and a digest of the options. */
  readonly item: string;
  /** Path of the request. */
  readonly path: string;
  /** Digest of the body as it is sent, lower-case hex: an attempt is only ever sent again with the same body. */
  readonly body_sha256: string;
  /** The request, addresses without their query. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Digest of the input file; null for an address. */
  readonly input_sha256: string | null;
  /** True if the credits of the service cost nothing; missing for others, and in records of earlier versions. */
  readonly is_free?: true | undefined;
}

/** The service has made the job. */
interface AcceptedRecord extends Common {
  readonly type: 'accepted';
  readonly job_id: string;
}

/** The service has said no before it made anything: nothing is charged. */
interface RefusedRecord extends Common {
  readonly type: 'refused';
  readonly code: string;
  readonly retryable: boolean;
  readonly message?: string | undefined;
  /** Request id of the answer, for support. */
  readonly request_id?: string | undefined;
}

/** The job has finished. */
export interface FinishedRecord extends Common {
  readonly type: 'finished';
  readonly job_id: string;
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  /** Why it failed; null if it did not. */
  readonly error: { readonly code: string; readonly message: string; readonly retryable: boolean } | null;
  /** When its results expire, as the service states. */
  readonly expires_at?: string | null | undefined;
  /** As the job found it: results are named by it where none was asked for. */
  readonly language?: string | null | undefined;
}

export interface StoredFile {
  readonly path: string;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  /** Name of the part of the result, such as `video`. */
  readonly asset?: string | undefined;
  /** Tracks of the source that were added on this machine. */
  readonly kept?: KeptTracks | undefined;
}

/** As records have files; those that were not read are missing. */
export function storeFiles(files: readonly ItemFile[]): readonly StoredFile[] {
  return files.flatMap(({ asset, path, bytes, sha256, kept }) =>
    bytes === null || sha256 === null ? [] : [{ asset, path, sha256, size: bytes, kept }],
  );
}

/** These files are whole, checked and synced, and get their names next. A run that is killed then knows them by this. */
interface PublishingRecord extends Common {
  readonly type: 'publishing';
  readonly job_id: string;
  readonly files: readonly StoredFile[];
}

/** All results are on this disk, checked and synced. */
export interface DownloadedRecord extends Common {
  readonly type: 'downloaded';
  readonly job_id: string;
  readonly files: readonly StoredFile[];
  readonly language?: string | null | undefined;
}

export type AttemptRecord =
  | IntendRecord
  | AcceptedRecord
  | RefusedRecord
  | FinishedRecord
  | PublishingRecord
  | DownloadedRecord;

/** The record to be written before a paid request leaves; the kind decides operation and path. */
export function createAttempt(fields: Omit<IntendRecord, 'type' | 'operation' | 'path'>): IntendRecord {
  const { operationId: operation, path } = creationOf(fields.kind);
  const params = withoutSecrets(fields.params);
  return { type: 'intend', ...fields, operation, path: VERSION_PREFIX + path, params };
}

/** Ends what the records before it say about an item. */
export interface ForgottenRecord {
  readonly type: 'item_forgotten';
  readonly at: string;
  /** Key of the item. */
  readonly item: string;
  /** Key of the item that takes over its attempts; without one, no item has them. */
  readonly as?: string | undefined;
}

/** How far an attempt has come. It only ever goes forward, in this order. */
type AttemptState =
  | { readonly phase: 'intended' }
  | { readonly phase: 'refused'; readonly record: RefusedRecord }
  | { readonly phase: 'accepted'; readonly record: AcceptedRecord }
  | { readonly phase: 'finished'; readonly record: FinishedRecord }
  | { readonly phase: 'downloaded'; readonly record: DownloadedRecord };

/** A refused call has made nothing, so the same key may still be accepted when it is sent again. */
export const PHASES = ['intended', 'refused', 'accepted', 'finished', 'downloaded'] as const;

export interface Attempt {
  /** The Idempotency-Key. */
  readonly key: string;
  /** Key of the item that has it; null for one that was forgotten, or whose record is lost. */
  readonly item: string | null;
  /** Null when that record is lost to damage: the other records still identify the paid job. */
  readonly asked: IntendRecord | null;
  readonly outcome: AttemptState;
  /** The files that a run was about to give their names; null when there are none, and once all are downloaded. */
  readonly publishing: PublishingRecord | null;
  readonly times: PhaseTimes;
}

export interface Attempts {
  /** By Idempotency-Key, in the order in which they were first heard of. */
  readonly byKey: ReadonlyMap<string, Attempt>;
  /** For each item its attempts, the newest last. */
  readonly byItem: ReadonlyMap<string, readonly string[]>;
}

/** Attempts that can be added to. */
interface GatheredAttempts extends Attempts {
  readonly byKey: Map<string, Attempt>;
  readonly byItem: Map<string, readonly string[]>;
}

export function gatherAttempts(all: Iterable<Attempt>): GatheredAttempts {
  const gathered = { byKey: new Map<string, Attempt>(), byItem: new Map<string, readonly string[]>() };
  for (const attempt of all) setAttempt(gathered, attempt);
  return gathered;
}

/** Adds an attempt, or replaces it by what it is now. */
export function setAttempt({ byKey, byItem }: GatheredAttempts, attempt: Attempt): void {
  const { key, item } = attempt;
  const before = byKey.get(key)?.item ?? null;
  byKey.set(key, attempt);
  if (before === item) return;
  if (before !== null) {
    const left = (byItem.get(before) ?? []).filter((each) => each !== key);
    if (left.length === 0) byItem.delete(before);
    else byItem.set(before, left);
  }
  if (item !== null) byItem.set(item, [...(byItem.get(item) ?? []), key]);
}

export function newAttempt(key: string): Attempt {
  return { key, item: null, asked: null, outcome: { phase: 'intended' }, publishing: null, times: {} };
}

/** An attempt after one more record: the first record of a phase counts (of refusals the last), and phases never go back. */
export function advanceAttempt(attempt: Attempt, record: AttemptRecord): Attempt {
  if (record.type === 'publishing') return addPublishing(attempt, record);
  const times = { [record.type]: record.at, ...attempt.times };
  if (record.type === 'intend')
    return attempt.asked === null
      ? { ...attempt, times, asked: record, item: record.item }
      : { ...attempt, times };
  // The type of the record is the name of its phase.
  const outcome = { phase: record.type, record } as AttemptState;
  const gain = PHASES.indexOf(outcome.phase) - PHASES.indexOf(attempt.outcome.phase);
  const isNews = gain > 0 || (gain === 0 && outcome.phase === 'refused');
  const publishing = outcome.phase === 'downloaded' ? null : attempt.publishing;
  return isNews ? { ...attempt, times, outcome, publishing } : { ...attempt, times };
}

/** Downloaded files are known as such; of others, each version of a file may be there. */
function addPublishing(attempt: Attempt, record: PublishingRecord): Attempt {
  if (attempt.outcome.phase === 'downloaded') return attempt;
  const known = attempt.publishing ?? { ...record, files: [] };
  const files = record.files.filter(
    ({ path, sha256 }) => !known.files.some((each) => each.path === path && each.sha256 === sha256),
  );
  return { ...attempt, publishing: { ...known, files: [...known.files, ...files] } };
}

/** The attempts after these records. The known ones are not changed. */
export function forgetItems({ byKey }: Attempts, records: readonly ForgottenRecord[]): Attempts {
  const gathered = gatherAttempts(byKey.values());
  for (const { item, as = null } of records) {
    for (const key of gathered.byItem.get(item) ?? []) {
      const attempt = gathered.byKey.get(key);
      if (attempt !== undefined) setAttempt(gathered, moveAttempt(attempt, as));
    }
  }
  return gathered;
}

/** An attempt of another item, which has not got its result yet: the files of the first one are known to be whole. */
export function moveAttempt(attempt: Attempt, item: string | null): Attempt {
  if (item === null) return { ...attempt, item };
  const asked = attempt.asked === null ? null : { ...attempt.asked, item };
  if (attempt.outcome.phase !== 'downloaded') return { ...attempt, item, asked };
  const { key, at, job_id, files, language } = attempt.outcome.record;
  return {
    ...attempt,
    item,
    asked,
    outcome: {
      phase: 'finished',
      record: { type: 'finished', key, at, job_id, state: 'succeeded', error: null, language },
    },
    publishing: { type: 'publishing', key, at, job_id, files },
  };
}
