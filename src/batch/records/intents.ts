/** The intents of paid calls: their records, and the state that follows from the records of each. Source: design, "The record (journal)". */
import * as v from 'valibot';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { creationOf, VERSION_PREFIX } from '../../protocol/operations.ts';
import { KEPT_TRACKS } from './kept-tracks.ts';
import { readRecord } from './read-record.ts';
import type { LogRecord } from './record-line.ts';
import { withoutSecrets } from './record-line.ts';

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

const time = v.pipe(v.string(), v.isoTimestamp());

/** When an intent entered each phase, RFC 3339. */
const phaseTimes = v.object({
  intend: v.optional(time),
  refused: v.optional(time),
  accepted: v.optional(time),
  finished: v.optional(time),
  downloaded: v.optional(time),
});

type PhaseTimes = Readonly<v.InferOutput<typeof phaseTimes>>;

/** That the job has found: results are named by it where none was asked for. Missing in records of earlier versions. */
const language = v.optional(v.nullable(v.string()));

/** All records of one intent carry its Idempotency-Key, and the time at which they were written, RFC 3339. */
const common = {
  key: v.pipe(v.string(), v.minLength(1)),
  at: time,
  /** Of records that a compaction has removed. */
  times: v.optional(phaseTimes),
};

/** Durable before the request leaves. */
const intend = v.object({
  type: v.literal('intend'),
  ...common,
  /** The name of the operation, such as `createDubbing`. */
  operation: v.string(),
  kind: v.picklist(JOB_KIND_NAMES),
  /** What the intent is for, the same in every run: input file, language, kind and a digest of the options. */
  item: v.string(),
  /** Of the request. */
  path: v.string(),
  /** Of the body as it is sent: an intent is only ever sent again with the same one. */
  body_sha256: sha256,
  /** What was asked, addresses without their query. */
  params: v.record(v.string(), v.unknown()),
  /** Of the input file; null for an address. */
  input_sha256: v.nullable(sha256),
});

/** The service has made the job. */
const accepted = v.object({ type: v.literal('accepted'), ...common, job_id: v.string() });

/** The service has said no before it made anything: nothing is charged. */
const refused = v.object({
  type: v.literal('refused'),
  ...common,
  code: v.string(),
  retryable: v.boolean(),
  message: v.optional(v.string()),
  /** Of the answer, for support. */
  request_id: v.optional(v.string()),
});

/** The job has finished. */
const finished = v.object({
  type: v.literal('finished'),
  ...common,
  job_id: v.string(),
  state: v.picklist(['succeeded', 'failed', 'cancelled']),
  /** Why it failed; null if it did not. */
  error: v.nullable(v.object({ code: v.string(), message: v.string(), retryable: v.boolean() })),
  /** When its results expire, as the service states. */
  expires_at: v.optional(v.nullable(v.string())),
  language,
});

const files = v.array(
  v.object({
    path: v.string(),
    sha256,
    /** Bytes. */
    size: v.number(),
    /** Name of the part of the result, such as `video`; records of earlier versions have the order of the parts instead. */
    asset: v.optional(v.string()),
    /** Tracks of the source that were added on this machine. */
    kept: v.optional(v.picklist(KEPT_TRACKS)),
  }),
);

/** These files are whole, checked and synced, and get their names next. A run that is killed then knows them by this. */
const publishing = v.object({ type: v.literal('publishing'), ...common, job_id: v.string(), files });

/** All results are on this disk, checked and synced. */
const downloaded = v.object({
  type: v.literal('downloaded'),
  ...common,
  job_id: v.string(),
  files,
  language,
});

const intentRecord = v.variant('type', [intend, accepted, refused, finished, publishing, downloaded]);

/** Half of a log are records of other types, and parsing them to report an error is slow. */
const TYPES: ReadonlySet<string> = new Set(intentRecord.options.map(({ entries }) => entries.type.literal));

export type IntendRecord = v.InferOutput<typeof intend>;
type RefusedRecord = v.InferOutput<typeof refused>;
type AcceptedRecord = v.InferOutput<typeof accepted>;
export type FinishedRecord = v.InferOutput<typeof finished>;
type PublishingRecord = v.InferOutput<typeof publishing>;
export type DownloadedRecord = v.InferOutput<typeof downloaded>;
export type IntentRecord = v.InferOutput<typeof intentRecord>;

/** Reads one record of a log; null for one of another type, or of another version of this program. */
export function parseIntentRecord(record: LogRecord): IntentRecord | null {
  if (!TYPES.has(record.type)) return null;
  const parsed = v.safeParse(intentRecord, record);
  return parsed.success ? parsed.output : null;
}

/** The record to be written before a paid request leaves; the kind decides operation and path. */
export function createIntent(fields: Omit<IntendRecord, 'type' | 'operation' | 'path'>): IntendRecord {
  const { operationId: operation, path } = creationOf(fields.kind);
  const params = withoutSecrets(fields.params);
  return { type: 'intend', ...fields, operation, path: VERSION_PREFIX + path, params };
}

const forgotten = v.object({
  type: v.literal('item_forgotten'),
  at: time,
  /** Key of the item. */
  item: v.string(),
  /** Key of the item that takes over its intents; without one, no item has them. */
  as: v.optional(v.string()),
});

/** Ends what the records before it say about an item. */
export type ForgottenRecord = v.InferOutput<typeof forgotten>;

/** Reads one record of a log; null for one of another type. */
export function parseForgotten(record: LogRecord): ForgottenRecord | null {
  return record.type === 'item_forgotten' ? readRecord(forgotten, record) : null;
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

/** The state of all intents of a log. Records that come twice count once; those of other types are ignored. */
export function foldIntents(records: readonly LogRecord[]): Intents {
  const tracker = trackIntents();
  for (const record of records) tracker.add(record);
  return tracker.intents;
}

/** The same state, updated record by record during a run. */
interface IntentTracker {
  readonly intents: Intents;
  /** False for a record of another type, which says nothing of an intent. */
  add(record: LogRecord): boolean;
}

export function trackIntents(): IntentTracker {
  const { intents, take, forget } = createFold();
  return {
    intents,
    add(record) {
      const line = parseIntentRecord(record);
      take(line);
      forget(parseForgotten(record));
      return line !== null;
    },
  };
}

interface Fold {
  readonly intents: Intents;
  take(line: IntentRecord | null): void;
  forget(record: ForgottenRecord | null): void;
}

function createFold(known: Intents = { byKey: new Map(), byItem: new Map() }): Fold {
  const byKey = new Map(known.byKey);
  const byItem = new Map([...known.byItem].map(([item, keys]) => [item, [...keys]]));
  return {
    intents: { byKey, byItem },
    forget(record) {
      const keys = record === null ? undefined : byItem.get(record.item);
      if (record === null || keys === undefined) return;
      byItem.delete(record.item);
      if (record.as === undefined) return;
      for (const key of keys) {
        const intent = byKey.get(key);
        if (intent !== undefined) byKey.set(key, moveIntent(intent, record.as));
      }
      byItem.set(record.as, [...(byItem.get(record.as) ?? []), ...keys]);
    },
    take(line) {
      if (line === null) return;
      const known = byKey.get(line.key);
      const next = advance(known ?? newIntent(line.key), line);
      byKey.set(line.key, next);
      if (next.asked === null || known?.asked === next.asked) return;
      const keys = byItem.get(next.asked.item);
      if (keys === undefined) byItem.set(next.asked.item, [next.key]);
      else keys.push(next.key);
    },
  };
}

/** The intents after these records. The known ones are not changed. */
export function forgetItems(intents: Intents, records: readonly ForgottenRecord[]): Intents {
  const fold = createFold(intents);
  for (const record of records) fold.forget(record);
  return fold.intents;
}

/** An intent of another item, which has not got its result yet: the files of the first one are known to be whole. */
function moveIntent(intent: Intent, item: string): Intent {
  const asked = intent.asked === null ? null : { ...intent.asked, item };
  if (intent.outcome.phase !== 'downloaded') return { ...intent, asked };
  const { key, at, job_id, files: own, language: found } = intent.outcome.record;
  const end = {
    type: 'finished',
    key,
    at,
    job_id,
    state: 'succeeded',
    error: null,
    language: found,
  } as const;
  return {
    ...intent,
    asked,
    outcome: { phase: 'finished', record: end },
    publishing: { type: 'publishing', key, at, job_id, files: own },
  };
}

function newIntent(key: string): Intent {
  return { key, asked: null, outcome: { phase: 'intended' }, publishing: null, times: {} };
}

/** An intent after one more record: the first record of a phase counts (of refusals the last), and phases never go back. */
function advance(intent: Intent, { times: earlier, ...line }: IntentRecord): Intent {
  if (line.type === 'publishing') return addPublishing(intent, line);
  const times = { [line.type]: line.at, ...earlier, ...intent.times };
  if (line.type === 'intend') return { ...intent, times, asked: intent.asked ?? line };
  const outcome = outcomeOf(line);
  const gain = PHASES.indexOf(outcome.phase) - PHASES.indexOf(intent.outcome.phase);
  const isNews = gain > 0 || (gain === 0 && outcome.phase === 'refused');
  const publishing = outcome.phase === 'downloaded' ? null : intent.publishing;
  return isNews ? { ...intent, times, outcome, publishing } : { ...intent, times };
}

/** What was downloaded is recorded as such; of what was not, each version of a file may be there. */
function addPublishing(intent: Intent, line: PublishingRecord): Intent {
  if (intent.outcome.phase === 'downloaded') return intent;
  const known = intent.publishing ?? { ...line, files: [] };
  const files = line.files.filter(
    ({ path, sha256 }) => !known.files.some((each) => each.path === path && each.sha256 === sha256),
  );
  return { ...intent, publishing: { ...known, files: [...known.files, ...files] } };
}

function outcomeOf(record: Exclude<IntentRecord, IntendRecord | PublishingRecord>): IntentState {
  switch (record.type) {
    case 'refused':
      return { phase: 'refused', record };
    case 'accepted':
      return { phase: 'accepted', record };
    case 'finished':
      return { phase: 'finished', record };
    case 'downloaded':
      return { phase: 'downloaded', record };
  }
}

/**
 * The question and the last word on each intent, for the compaction of a log; records of other types stay. Nothing is
 * lost by it, since every word carries all that the ones before it said, and the last one is given their times.
 */
export function pickLiveIntents(records: Iterable<LogRecord>): LogRecord[] {
  const { intents, take, forget } = createFold();
  const order: (LogRecord | string)[] = [];
  for (const record of records) {
    const line = parseIntentRecord(record);
    if (line === null) order.push(record);
    else if (!intents.byKey.has(line.key)) order.push(line.key);
    take(line);
    forget(parseForgotten(record));
  }
  return order.flatMap((place): LogRecord[] => {
    if (typeof place !== 'string') return [place];
    const intent = intents.byKey.get(place);
    return intent === undefined ? [] : recordsOf(intent);
  });
}

function recordsOf({ asked, outcome, publishing, times }: Intent): LogRecord[] {
  const last = outcome.phase === 'intended' ? null : { ...outcome.record, times };
  return [asked, last, publishing].filter((record) => record !== null);
}
