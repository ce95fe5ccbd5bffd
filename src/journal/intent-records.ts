/** The records of a paid call, before and after it. Source: design, "The record (journal)". */
import * as v from 'valibot';
import { JOB_KIND_NAMES } from '../protocol/kind-names.ts';
import type { LogRecord } from './record-line.ts';
import { withoutSecrets } from './without-secrets.ts';

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

export type PhaseTimes = Readonly<v.InferOutput<typeof phaseTimes>>;

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
  /** When its results can be fetched no more, as the service tells it. */
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

/** Half of a log are records of other types, and a parser takes its time to say what is wrong with them. */
const TYPES: ReadonlySet<string> = new Set(intentRecord.options.map(({ entries }) => entries.type.literal));

export type IntendRecord = v.InferOutput<typeof intend>;
export type RefusedRecord = v.InferOutput<typeof refused>;
export type AcceptedRecord = v.InferOutput<typeof accepted>;
export type FinishedRecord = v.InferOutput<typeof finished>;
export type PublishingRecord = v.InferOutput<typeof publishing>;
export type DownloadedRecord = v.InferOutput<typeof downloaded>;
export type IntentRecord = v.InferOutput<typeof intentRecord>;

/** Reads one record of a log; null for one of another type, or of another version of this program. */
export function parseIntentRecord(record: LogRecord): IntentRecord | null {
  if (!TYPES.has(record.type)) return null;
  const parsed = v.safeParse(intentRecord, record);
  return parsed.success ? parsed.output : null;
}

/** The record to be written before a paid request leaves. */
export function createIntent(fields: Omit<IntendRecord, 'type'>): IntendRecord {
  return { type: 'intend', ...fields, params: withoutSecrets(fields.params) };
}
