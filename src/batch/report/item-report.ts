/** What the journal says of one item: pure. */
import { resolve } from 'node:path';
import * as v from 'valibot';
import type { FinishedRecord, IntentRecord } from '../../journal/intent-records.ts';
import type { Intent } from '../../journal/intents.ts';
import { nextStep, type StoredFile } from '../../journal/next-step.ts';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { ItemFacts } from '../plan/facts.ts';

/**
 * `waiting`: nothing was asked. `unanswered`: asked, and nobody knows whether there is a job. `undelivered`: the result
 * is to be fetched. `refused`: no job was made. `expired`: the service has forgotten it, and its result is not here.
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

export interface ItemReport {
  readonly key: string;
  readonly label: string;
  readonly kind: JobKind;
  readonly target_language: string | null;
  readonly state: ReportState;
  readonly job_id: string | null;
  readonly error: ReportError | null;
  /** Paths are absolute. */
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly sha256: string }[];
  readonly credits: { readonly reserved: number; readonly charged: number } | null;
  /** Paid calls for it, those that came to nothing among them. */
  readonly attempts: number;
  /** RFC 3339: when it was asked for last, accepted, ended, and fetched. */
  readonly asked_at: string | null;
  readonly created_at: string | null;
  readonly finished_at: string | null;
  readonly downloaded_at: string | null;
  /** Until when its result can be fetched, RFC 3339; null when there is none to fetch. */
  readonly deadline: string | null;
}

export interface ReportError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly request_id: string | null;
}

const itemKey = v.tuple([v.picklist(JOB_KIND_NAMES), v.string(), v.nullable(v.string())]);

/** Kind, name of the input and target language out of the key of an item; null for a key of another form. */
export function readItemKey(key: string): { kind: JobKind; name: string; language: string | null } | null {
  try {
    const [kind, name, language] = v.parse(itemKey, JSON.parse(key));
    return { kind, name, language };
  } catch {
    return null;
  }
}

export interface ItemRecords {
  readonly key: string;
  readonly facts: ItemFacts | undefined;
  /** Of all its intents, the newest last. */
  readonly intents: readonly Intent[];
  /** When each phase of an intent was entered, by Idempotency-Key; the journal keeps the last one only, once it is compacted. */
  readonly times: ReadonlyMap<string, PhaseTimes>;
  readonly credits: ItemReport['credits'];
}

export type PhaseTimes = Partial<Readonly<Record<IntentRecord['type'], string>>>;

/**
 * The report of an item, or null when the journal does not even say of what kind it is.
 * @param folder of the results, absolute
 * @param now milliseconds since 1970
 */
export function reportItem(records: ItemRecords, folder: string, now: number): ItemReport | null {
  const { key, facts, intents, credits } = records;
  const named = readItemKey(key);
  const last = intents.at(-1);
  const kind = facts?.kind ?? last?.asked?.kind ?? named?.kind;
  if (kind === undefined) return null;
  const language = named?.language ?? null;
  const times = last === undefined ? {} : (records.times.get(last.key) ?? {});
  const state = last === undefined ? 'waiting' : stateOf(last, now);
  return {
    key,
    label: facts?.label ?? describeKey(key),
    kind,
    target_language: language,
    state,
    job_id: last === undefined ? null : jobIdOf(last),
    error: last === undefined ? null : errorOf(last, state),
    files: last?.outcome.phase === 'downloaded' ? last.outcome.record.files.map(readFile(folder)) : [],
    credits,
    attempts: intents.length,
    asked_at: times.intend ?? null,
    created_at: times.accepted ?? null,
    finished_at: times.finished ?? null,
    downloaded_at: times.downloaded ?? null,
    deadline: state === 'undelivered' ? deadlineOf(times.finished) : null,
  };
}

function describeKey(key: string): string {
  const named = readItemKey(key);
  if (named === null) return key;
  return named.language === null ? named.name : `${named.name} → ${named.language}`;
}

function readFile(folder: string) {
  return ({ path, size, sha256 }: StoredFile) => ({ path: resolve(folder, path), bytes: size, sha256 });
}

function stateOf(intent: Intent, now: number): ReportState {
  const next = nextStep(intent, now);
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

function jobIdOf({ outcome }: Intent): string | null {
  return 'record' in outcome && 'job_id' in outcome.record ? outcome.record.job_id : null;
}

function errorOf({ outcome }: Intent, state: ReportState): ReportError | null {
  if (state === 'expired') {
    return failure('RESULT_EXPIRED', 'the service has forgotten it, and its result is not here');
  }
  if (outcome.phase === 'refused') {
    const { code, retryable, message = 'the service refused the call', request_id = null } = outcome.record;
    return { code, message, retryable, request_id };
  }
  return outcome.phase === 'finished' ? jobErrorOf(outcome.record) : null;
}

function jobErrorOf({ state, error }: FinishedRecord): ReportError | null {
  if (state === 'succeeded') return null;
  if (state === 'cancelled') return failure('JOB_CANCELLED', 'the job was cancelled');
  return error === null
    ? failure('JOB_FAILED', 'the service gave no reason')
    : { ...error, request_id: null };
}

function failure(code: string, message: string): ReportError {
  return { code, message, retryable: false, request_id: null };
}

/** The record of the end may be younger than the end, never older: so this is the latest that the links can lapse. */
function deadlineOf(finishedAt: string | undefined): string | null {
  if (finishedAt === undefined) return null;
  return new Date(Date.parse(finishedAt) + LIMITS.resultLinkMs).toISOString();
}
