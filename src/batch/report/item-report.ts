/** The state of one item according to the journal. Pure. */

import * as v from 'valibot';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { NOT_USABLE } from '../input.ts';
import { CUES_MISSING, describeMissingCues, type ItemProvenance } from '../item-provenance.ts';
import { type Attempt, reasonOf } from '../records/attempts.ts';
import type { ItemFacts } from '../records/item-facts.ts';
import { isJoinedKey, isSampleKey, SAMPLE_SUFFIX, wholeName } from '../records/item-key.ts';
import { lastSeenMs, nextStep } from '../records/next-step.ts';
import { nameParts } from '../records/record-folder.ts';
import type { UnusableRecord } from '../records/unusable-inputs.ts';
import type { ItemCosts } from './costs.ts';

/**
 * `waiting`: no request was sent. `unanswered`: a request was sent, and it is unknown whether there is a job. `undelivered`:
 * the result was not downloaded. `refused`: no job was created. `expired`: the service has deleted the job, and its result was
 * not downloaded.
 */
export const ITEM_STATES = [
  'done',
  'undelivered',
  'running',
  'unanswered',
  'waiting',
  'refused',
  'failed',
  'cancelled',
  'expired',
] as const;
export type ReportState = (typeof ITEM_STATES)[number];

export interface ItemReport extends ItemCosts {
  readonly key: string;
  readonly label: string;
  readonly kind: JobKind;
  readonly target_language: string | null;
  readonly state: ReportState;
  readonly job_id: string | null;
  readonly error: ReportError | null;
  readonly files: readonly ReportedFile[];
  /** Requests for it, including those that created no job. */
  readonly attempts: number;
  /** RFC 3339: when the last request was sent, accepted, finished and downloaded. */
  readonly asked_at: string | null;
  readonly created_at: string | null;
  readonly finished_at: string | null;
  readonly downloaded_at: string | null;
  /** Until when the result can be downloaded, RFC 3339; null if there is none to download. */
  readonly deadline: string | null;
  /** Engines and cues of its job; missing if the service did not say how it made the result. */
  readonly provenance?: ItemProvenance;
  /** The shard that it belongs to, as --shard takes it; missing for a batch without shards. */
  readonly shard?: string;
  /** Its folder of results, absolute; missing if the report is about one folder. */
  readonly folder?: string;
}

interface ReportedFile {
  /** Name of the part of the result, such as `video`; null for one that the kind does not have. */
  readonly asset: string | null;
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface ReportError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly request_id: string | null;
}

const itemKey = v.tuple([v.picklist(JOB_KIND_NAMES), v.string(), v.nullable(v.string())]);

/** Kind, input name and target language from the key of an item; null for a key in another form. */
export function readItemKey(key: string): { kind: JobKind; name: string; language: string | null } | null {
  try {
    const [kind, name, language] = v.parse(itemKey, JSON.parse(key));
    return { kind, name, language };
  } catch {
    return null;
  }
}

interface ItemRecords {
  readonly key: string;
  readonly facts: ItemFacts | undefined;
  /** Set if its file was not usable when it was last checked. */
  readonly unusable?: UnusableRecord | undefined;
  /** All its attempts, newest last. */
  readonly attempts: readonly Attempt[];
  readonly costs: Omit<ItemCosts, 'job_id'>;
  /** How its newest job made the result. */
  readonly provenance?: ItemProvenance | undefined;
}

/**
 * The report of an item, or null if the journal does not even have its kind.
 * @param now milliseconds since 1970
 */
export function reportItem(records: ItemRecords, now: number): ItemReport | null {
  const { key, facts, unusable, attempts, costs, provenance } = records;
  const named = readItemKey(key);
  const last = attempts.at(-1);
  const kind = facts?.kind ?? last?.kind ?? named?.kind;
  if (kind === undefined) return null;
  const language = named?.language ?? null;
  if (unusable !== undefined) return unusableReport(records, unusable, kind);
  const state = last === undefined ? 'waiting' : stateOf(last, now);
  return {
    key,
    label: facts?.label ?? describeKey(key),
    kind,
    target_language: language,
    state,
    job_id: last === undefined ? null : jobIdOf(last),
    error: last === undefined ? null : errorOf(last, state),
    files: last === undefined ? [] : filesOf(last, kind),
    ...costs,
    attempts: attempts.length,
    asked_at: last?.asked_at ?? null,
    created_at: last?.accepted_at ?? null,
    finished_at: last?.finished_at ?? null,
    downloaded_at: last?.downloaded_at ?? null,
    deadline: last === undefined ? null : deadlineOf(last, state),
    ...(provenance === undefined ? {} : { provenance }),
  };
}

/** A translation that was delivered with cues missing has failed until a person fills them in. */
export function withMissingCues(report: ItemReport): ItemReport {
  const missing = report.provenance?.missing_cues ?? [];
  if (report.state !== 'done' || missing.length === 0) return report;
  return { ...report, state: 'failed', error: failure(CUES_MISSING, describeMissingCues(missing)) };
}

/** Whether the result is on this machine, even if it is not complete. */
export function isDelivered({ state, error }: ItemReport): boolean {
  return state === 'done' || error?.code === CUES_MISSING;
}

/** Earlier jobs do not count, since their input has changed. */
function unusableReport(
  { key, attempts, costs }: ItemRecords,
  { label, detail, at, code = NOT_USABLE }: UnusableRecord,
  kind: JobKind,
): ItemReport {
  return {
    key,
    label,
    kind,
    target_language: readItemKey(key)?.language ?? null,
    state: 'failed',
    job_id: null,
    error: failure(code, detail),
    files: [],
    ...costs,
    attempts: attempts.length,
    asked_at: null,
    created_at: null,
    finished_at: at,
    downloaded_at: null,
    deadline: null,
  };
}

function describeKey(key: string): string {
  return nameItem({ key, label: key });
}

/** The name below the root of the inputs and the language: the same in every state and on every machine. */
export function nameItem({ key, label }: Pick<ItemReport, 'key' | 'label'>): string {
  const named = readItemKey(key);
  if (named === null) return label;
  const name = wholeName(named.name);
  const mark = isSampleKey(key) ? SAMPLE_SUFFIX : '';
  return `${named.language === null ? name : `${name} → ${named.language}`}${mark}`;
}

function filesOf({ files: all, state }: Attempt, kind: JobKind): readonly ReportedFile[] {
  const files = state === 'downloaded' ? all : [];
  return nameParts(kind, files).map(({ asset, path, size, sha256 }) => ({
    asset,
    path,
    bytes: size,
    sha256,
  }));
}

function stateOf(attempt: Attempt, now: number): ReportState {
  const next = nextStep(attempt, now);
  switch (next.step) {
    case 'submit':
      return 'unanswered';
    case 'attach':
      return 'running';
    case 'download':
      return 'undelivered';
    case 'nothing':
      return next.because.reason === 'downloaded' ? 'done' : next.because.reason;
  }
}

function jobIdOf({ job_id: id }: Attempt): string | null {
  return id === null || isJoinedKey(id) ? null : id;
}

function errorOf(attempt: Attempt, state: ReportState): ReportError | null {
  if (state === 'expired') {
    return failure('RESULT_EXPIRED', 'the service has deleted the job; its result was not downloaded');
  }
  if (attempt.state === 'cancelled') return failure('JOB_CANCELLED', 'the job was cancelled');
  if (attempt.state !== 'refused' && attempt.state !== 'failed') return null;
  const reason = reasonOf(attempt);
  if (reason === null) return failure('JOB_FAILED', 'the service gave no reason');
  return { ...reason, request_id: attempt.request_id };
}

function failure(code: string, message: string): ReportError {
  return { code, message, retryable: false, request_id: null };
}

/** The time that the service stated, else the latest possible one, since the end may be recorded late but not early. */
function deadlineOf(attempt: Attempt, state: ReportState): string | null {
  if (state !== 'undelivered') return null;
  return attempt.expires_at ?? new Date(lastSeenMs(attempt) + LIMITS.resultLinkMs).toISOString();
}
