/** The attempts of items: requests that may be charged, from before they are sent until their results are here. */
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Bill } from '../bill.ts';
import type { ItemFile } from '../item.ts';
import { withoutSecrets } from './secrets.ts';

/**
 * How far an attempt has come, by rank: it only ever goes forward. A refused call has made nothing, so the same key may still
 * be accepted when it is sent again. Downloaded: all results are on this disk, checked and synced; if
 * they are made again there, of other tracks, these count.
 */
export const STATE_RANKS = {
  asked: 0,
  refused: 1,
  accepted: 2,
  succeeded: 3,
  failed: 3,
  cancelled: 3,
  downloaded: 4,
} as const;
export type AttemptState = keyof typeof STATE_RANKS;

/** As its row has it. Times are RFC 3339, null until then; digests are lower-case hex. */
export interface Attempt {
  /** The Idempotency-Key. */
  readonly key: string;
  /** Key of the item that has it; null for one that was forgotten. */
  readonly item: string | null;
  readonly kind: JobKind;
  /** Addresses without their query, lines without their text. */
  readonly request: Readonly<Record<string, unknown>>;
  /** Of the body as it is sent: a key is only ever sent again with the same body. */
  readonly body_sha256: string;
  /** Of the input file; null for an address. */
  readonly input_sha256: string | null;
  /** True if the credits of the service cost nothing. */
  readonly is_free: boolean;
  readonly state: AttemptState;
  readonly job_id: string | null;
  /** Code of the refusal or of the failed job, its message, and the id of the refused request. */
  readonly error: string | null;
  readonly message: string | null;
  readonly retryable: boolean;
  readonly request_id: string | null;
  readonly asked_at: string;
  readonly accepted_at: string | null;
  readonly finished_at: string | null;
  readonly downloaded_at: string | null;
  /** When its results expire, as the service states. */
  readonly expires_at: string | null;
  /** As the job found it: results are named by it where none was asked for. */
  readonly language: string | null;
  /** The newest bill of the job. */
  readonly quantity: number | null;
  readonly bill_status: string | null;
  readonly reserved: number | null;
  readonly charged: number | null;
  /** The downloaded results. Of an attempt that is not downloaded: those of the earlier name of its item. */
  readonly files: readonly StoredFile[];
}

export interface StoredFile {
  readonly path: string;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  /** Name of the part of the result, such as `video`. */
  readonly asset?: string | undefined;
  /** What was done to it on this machine, see `nameWork`. */
  readonly kept?: string | undefined;
}

/** As records have files; those that were not read are missing. */
export function storeFiles(files: readonly ItemFile[]): readonly StoredFile[] {
  return files.flatMap(({ asset, path, bytes, sha256, kept }) =>
    bytes === null || sha256 === null ? [] : [{ asset, path, sha256, size: bytes, kept }],
  );
}

/** Durable before a paid request leaves. */
export interface AskedRecord
  extends Pick<
    Attempt,
    'key' | 'kind' | 'request' | 'body_sha256' | 'input_sha256' | 'is_free' | 'asked_at'
  > {
  readonly type: 'asked';
  readonly item: string;
}

/** What is new about an attempt. A state that it has had, or has left behind, changes nothing; of refusals the last counts. */
interface ChangedRecord extends Partial<Omit<Attempt, 'files'>> {
  readonly type: 'changed';
  readonly key: string;
}

/** All results are on this disk, checked and synced. */
export interface DownloadedRecord {
  readonly type: 'downloaded';
  readonly key: string;
  readonly at: string;
  /** For results that were joined; missing for those of the job of the attempt. */
  readonly job_id?: string | undefined;
  readonly files: readonly StoredFile[];
  readonly language?: string | null | undefined;
}

export type AttemptRecord = AskedRecord | ChangedRecord | DownloadedRecord;

/** The record to be written before a paid request leaves. */
export function createAttempt({ request, ...fields }: Omit<AskedRecord, 'type'>): AskedRecord {
  return { type: 'asked', ...fields, request: withoutSecrets(request) };
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

export interface Attempts {
  /** By Idempotency-Key, in the order in which they were asked for. */
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

const NO_REASON = { error: null, message: null, retryable: false, request_id: null } as const;

const JUST_ASKED = {
  state: 'asked',
  job_id: null,
  ...NO_REASON,
  accepted_at: null,
  finished_at: null,
  downloaded_at: null,
  expires_at: null,
  language: null,
  quantity: null,
  bill_status: null,
  reserved: null,
  charged: null,
  files: [],
} as const;

/** An attempt after one more record. @throws TypeError for a change of one that was never asked for */
export function advanceAttempt(before: Attempt | undefined, record: AttemptRecord): Attempt {
  if (record.type === 'asked') {
    const { type: _, ...asked } = record;
    return before ?? { ...JUST_ASKED, ...asked };
  }
  if (before === undefined) throw new TypeError(`there is no attempt ${record.key}`);
  switch (record.type) {
    case 'downloaded': {
      const { at: downloaded_at, files, job_id = before.job_id, language = before.language } = record;
      const result = { state: 'downloaded', job_id, downloaded_at, language } as const;
      return isNews(before, 'downloaded') ? { ...before, ...result, files } : { ...before, files };
    }
    case 'changed': {
      const { type: _, state = null, ...change } = record;
      if (state !== null && !isNews(before, state)) return before;
      // The quantity does not change, and later runs may not know it.
      const quantity = change.quantity ?? before.quantity;
      const why = state === null ? {} : NO_REASON;
      return { ...before, ...why, ...change, state: state ?? before.state, quantity };
    }
  }
}

function isNews({ state: before }: Attempt, state: AttemptState): boolean {
  return STATE_RANKS[state] > STATE_RANKS[before] || (state === 'refused' && before === 'refused');
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
  if (item === null || attempt.state !== 'downloaded') return { ...attempt, item };
  return { ...attempt, item, state: 'succeeded', expires_at: null };
}

/** Why it was refused, or its job failed; null if it did not, or nobody knows. */
export function reasonOf({ error: code, message, retryable }: Attempt): Reason | null {
  return code === null ? null : { code, message: message ?? 'the service refused the call', retryable };
}

export interface Reason {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** The costs of its job; null if none are known. */
export function billOf({ bill_status: status, quantity, reserved, charged }: Attempt): Bill | null {
  const isKnown = status !== null || quantity !== null || reserved !== null || charged !== null;
  return isKnown ? { status, quantity, reserved_credits: reserved, charged_credits: charged } : null;
}
