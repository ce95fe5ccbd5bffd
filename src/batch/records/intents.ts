/** The intents of paid calls: their records, and the state that follows from the records of each. Source: design, "The record (journal)". */
import type { JobKind } from '../../protocol/kind-names.ts';
import { creationOf, VERSION_PREFIX } from '../../protocol/operations.ts';
import type { ItemFile } from '../item.ts';
import type { KeptTracks } from './kept-tracks.ts';
import { withoutSecrets } from './secrets.ts';

/** When an intent entered each phase, RFC 3339. */
type PhaseTimes = Readonly<Partial<Record<Exclude<IntentRecord['type'], 'publishing'>, string>>>;

/** All records of one intent carry its Idempotency-Key, and the time at which they were written, RFC 3339. */
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
  /** Digest of the body as it is sent, lower-case hex: an intent is only ever sent again with the same body. */
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

export type IntentRecord =
  | IntendRecord
  | AcceptedRecord
  | RefusedRecord
  | FinishedRecord
  | PublishingRecord
  | DownloadedRecord;

/** The record to be written before a paid request leaves; the kind decides operation and path. */
export function createIntent(fields: Omit<IntendRecord, 'type' | 'operation' | 'path'>): IntendRecord {
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
  /** Key of the item that takes over its intents; without one, no item has them. */
  readonly as?: string | undefined;
}

/** How far an intent has come. It only ever goes forward, in this order. */
type IntentState =
  | { readonly phase: 'intended' }
  | { readonly phase: 'refused'; readonly record: RefusedRecord }
  | { readonly phase: 'accepted'; readonly record: AcceptedRecord }
  | { readonly phase: 'finished'; readonly record: FinishedRecord }
  | { readonly phase: 'downloaded'; readonly record: DownloadedRecord };

/** A refused call has made nothing, so the same key may still be accepted when it is sent again. */
export const PHASES = ['intended', 'refused', 'accepted', 'finished', 'downloaded'] as const;

export interface Intent {
  /** The Idempotency-Key. */
  readonly key: string;
  /** Key of the item that has it; null for one that was forgotten, or whose record is lost. */
  readonly item: string | null;
  /** Null when that record is lost to damage: the other records still identify the paid job. */
  readonly asked: IntendRecord | null;
  readonly outcome: IntentState;
  /** The files that a run was about to give their names; null when there are none, and once all are downloaded. */
  readonly publishing: PublishingRecord | null;
  readonly times: PhaseTimes;
}

export interface Intents {
  /** By Idempotency-Key, in the order in which they were first heard of. */
  readonly byKey: ReadonlyMap<string, Intent>;
  /** For each item its intents, the newest last. */
  readonly byItem: ReadonlyMap<string, readonly string[]>;
}

/** Intents that can be added to. */
interface GatheredIntents extends Intents {
  readonly byKey: Map<string, Intent>;
  readonly byItem: Map<string, readonly string[]>;
}

export function gatherIntents(all: Iterable<Intent>): GatheredIntents {
  const gathered = { byKey: new Map<string, Intent>(), byItem: new Map<string, readonly string[]>() };
  for (const intent of all) setIntent(gathered, intent);
  return gathered;
}

/** Adds an intent, or replaces it by what it is now. */
export function setIntent({ byKey, byItem }: GatheredIntents, intent: Intent): void {
  const { key, item } = intent;
  const before = byKey.get(key)?.item ?? null;
  byKey.set(key, intent);
  if (before === item) return;
  if (before !== null) {
    const left = (byItem.get(before) ?? []).filter((each) => each !== key);
    if (left.length === 0) byItem.delete(before);
    else byItem.set(before, left);
  }
  if (item !== null) byItem.set(item, [...(byItem.get(item) ?? []), key]);
}

export function newIntent(key: string): Intent {
  return { key, item: null, asked: null, outcome: { phase: 'intended' }, publishing: null, times: {} };
}

/** An intent after one more record: the first record of a phase counts (of refusals the last), and phases never go back. */
export function advanceIntent(intent: Intent, record: IntentRecord): Intent {
  if (record.type === 'publishing') return addPublishing(intent, record);
  const times = { [record.type]: record.at, ...intent.times };
  if (record.type === 'intend')
    return intent.asked === null
      ? { ...intent, times, asked: record, item: record.item }
      : { ...intent, times };
  // The type of the record is the name of its phase.
  const outcome = { phase: record.type, record } as IntentState;
  const gain = PHASES.indexOf(outcome.phase) - PHASES.indexOf(intent.outcome.phase);
  const isNews = gain > 0 || (gain === 0 && outcome.phase === 'refused');
  const publishing = outcome.phase === 'downloaded' ? null : intent.publishing;
  return isNews ? { ...intent, times, outcome, publishing } : { ...intent, times };
}

/** Downloaded files are known as such; of others, each version of a file may be there. */
function addPublishing(intent: Intent, record: PublishingRecord): Intent {
  if (intent.outcome.phase === 'downloaded') return intent;
  const known = intent.publishing ?? { ...record, files: [] };
  const files = record.files.filter(
    ({ path, sha256 }) => !known.files.some((each) => each.path === path && each.sha256 === sha256),
  );
  return { ...intent, publishing: { ...known, files: [...known.files, ...files] } };
}

/** The intents after these records. The known ones are not changed. */
export function forgetItems({ byKey }: Intents, records: readonly ForgottenRecord[]): Intents {
  const gathered = gatherIntents(byKey.values());
  for (const { item, as = null } of records) {
    for (const key of gathered.byItem.get(item) ?? []) {
      const intent = gathered.byKey.get(key);
      if (intent !== undefined) setIntent(gathered, moveIntent(intent, as));
    }
  }
  return gathered;
}

/** An intent of another item, which has not got its result yet: the files of the first one are known to be whole. */
export function moveIntent(intent: Intent, item: string | null): Intent {
  if (item === null) return { ...intent, item };
  const asked = intent.asked === null ? null : { ...intent.asked, item };
  if (intent.outcome.phase !== 'downloaded') return { ...intent, item, asked };
  const { key, at, job_id, files, language } = intent.outcome.record;
  return {
    ...intent,
    item,
    asked,
    outcome: {
      phase: 'finished',
      record: { type: 'finished', key, at, job_id, state: 'succeeded', error: null, language },
    },
    publishing: { type: 'publishing', key, at, job_id, files },
  };
}
