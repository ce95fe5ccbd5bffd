/** All schemas of the document by name. */

import * as v from 'valibot';
import type { Field } from '../fields.ts';
import { JOB_ERROR_CODES, type JobErrorCode } from '../job-failure.ts';
import { JOB_KIND_NAMES, type JobKind } from '../kind-names.ts';
import { KINDS, type Kind, type ResultPart } from '../kinds.ts';
import { LIMITS } from '../limits.ts';
import type { Operation } from '../operations.ts';
import { CompletionRequestSchema, LineSchema, requestSchema, UploadRequestSchema } from '../requests.ts';
import type { AssetResource, BillingResource, JobResource, JobSummary } from '../resources.ts';
import { shapeOf } from '../shape.ts';
import { JOB_STATUSES } from '../states.ts';
import { describeSchemas, type JsonSchema } from './json-schemas.ts';
import {
  Count,
  CreditBalanceSchema,
  Credits,
  CreditTransactionSchema,
  Instant,
  idOf,
  Path,
  ProblemSchema,
  Reference,
  Seconds,
  Unit,
  UploadSchema,
  Url,
} from './resource-schemas.ts';
import { EventSchema } from './webhook.ts';

/** Returns the schema names of an operation: of its body (null if it has none) and of its answer. */
export function schemaNames(operation: Operation): { request: string | null; answer: string } {
  const noun = operation.kind === null ? '' : KINDS[operation.kind].noun;
  switch (operation.action) {
    case 'getCredits':
      return { request: null, answer: 'CreditBalance' };
    case 'listCreditTransactions':
      return { request: null, answer: 'CreditTransactionList' };
    case 'createUpload':
      return { request: 'UploadRequest', answer: 'Upload' };
    case 'listUploads':
      return { request: null, answer: 'UploadList' };
    case 'getUpload':
      return { request: null, answer: 'Upload' };
    case 'completeUpload':
      return { request: 'CompletionRequest', answer: 'Upload' };
    case 'createJob':
      return { request: `${noun}Request`, answer: noun };
    case 'listJobs':
      return { request: null, answer: `${noun}List` };
    case 'getJob':
    case 'cancelJob':
      return { request: null, answer: noun };
  }
}

/** Returns JSON Schemas of all bodies and of the schemas that they share. */
export function createSchemas(): JsonSchema {
  const jobs = JOB_KIND_NAMES.map(schemasOfKind);
  return describeSchemas({
    Problem: ProblemSchema,
    Asset: AssetSchema,
    Billing: BillingSchema,
    SubtitleLine: LineSchema,
    Event: EventSchema,
    CreditBalance: CreditBalanceSchema,
    CreditTransaction: CreditTransactionSchema,
    CreditTransactionList: listOf(CreditTransactionSchema),
    Upload: UploadSchema,
    UploadList: listOf(UploadSchema),
    UploadRequest: UploadRequestSchema,
    CompletionRequest: CompletionRequestSchema,
    ...Object.assign({}, ...jobs),
  });
}

function schemasOfKind(kind: JobKind): Record<string, v.GenericSchema> {
  const { noun } = KINDS[kind];
  const summary = summarySchema(kind);
  return {
    [noun]: jobSchema(kind),
    [`${noun}Summary`]: summary,
    [`${noun}List`]: listOf(summary),
    [`${noun}Request`]: requestSchema(kind),
  };
}

/** The list envelope. Source: specification, "List envelope". */
function listOf(item: v.GenericSchema): v.GenericSchema {
  return v.strictObject({
    object: v.literal('list'),
    data: v.pipe(v.array(item), v.maxLength(LIMITS.pageSize.max)),
    has_more: v.boolean(),
    next_cursor: v.nullable(v.pipe(v.string(), v.maxLength(LIMITS.cursorLength))),
  });
}

const AssetSchema = shapeOf<AssetResource>()(
  v.strictObject({
    url: Url,
    expires_at: Instant,
    content_type: v.string(),
    size_bytes: Count,
    sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  }),
);

const BillingSchema = shapeOf<BillingResource>()(
  v.strictObject({
    status: v.picklist(['reserved', 'pending_confirmation', 'settled', 'released']),
    unit: Unit,
    quantity: Count,
    reserved_credits: Credits,
    charged_credits: Credits,
  }),
);

const SUMMARY = {
  id: v.string(),
  object: v.picklist(JOB_KIND_NAMES),
  status: v.picklist(JOB_STATUSES),
  progress: v.pipe(Count, v.maxValue(100)),
  client_reference: Reference,
  created_at: Instant,
  updated_at: Instant,
  detail_url: Path,
};
const SummarySchema = shapeOf<JobSummary>()(v.strictObject(SUMMARY));

const CODES = Object.keys(JOB_ERROR_CODES) as JobErrorCode[]; // the keys of the table are its codes

const JobSchema = shapeOf<JobResource>()(
  v.strictObject({
    ...SUMMARY,
    stage: v.nullable(v.string()),
    input: v.record(v.string(), v.unknown()),
    error: v.nullable(
      v.strictObject({ code: v.picklist(CODES), message: v.string(), retryable: v.boolean() }),
    ),
    result: v.nullable(
      v.record(v.string(), v.union([AssetSchema, v.string(), v.number(), v.array(LineSchema)])),
    ),
    billing: BillingSchema,
    expires_at: v.nullable(Instant),
    started_at: v.nullable(Instant),
    finished_at: v.nullable(Instant),
  }),
);

/** The list item of a kind. */
function summarySchema(kind: JobKind): v.GenericSchema {
  return v.strictObject({ ...SummarySchema.entries, ...namesOf(kind) });
}

/** The single resource of a kind: the fields of any job, with the input and the result of this kind. */
function jobSchema(kind: JobKind): v.GenericSchema {
  const row: Kind = KINDS[kind];
  const entries = <Part>(table: Readonly<Record<string, Part>>, make: (part: Part) => v.GenericSchema) =>
    v.strictObject(Object.fromEntries(Object.entries(table).map(([name, part]) => [name, make(part)])));
  return v.strictObject({
    ...JobSchema.entries,
    ...namesOf(kind),
    input: entries(row.fields, inputSchema),
    result: v.nullable(entries(row.result, resultSchema)),
  });
}

const namesOf = (kind: JobKind) => ({ id: idOf(kind), object: v.literal(kind) });

const UploadInput = v.strictObject({ type: v.literal('upload'), upload_id: v.string() });
/** Without the query, which may contain a permission. */
const UrlInput = v.strictObject({ type: v.literal('url'), url: Url });
/** A count instead of the lines, because there may be thousands. */
const LinesInput = v.strictObject({ type: v.literal('lines'), line_count: Count });

/** The request as a job shows it. Defaults are filled in, so no field is missing. */
function inputSchema(field: Field): v.GenericSchema {
  switch (field.type) {
    case 'source':
      return v.variant('type', [UrlInput, UploadInput]);
    case 'subtitle':
      return v.variant('type', [UrlInput, UploadInput, LinesInput]);
    case 'choice':
      return v.picklist(field.choices);
    default:
      return v.string();
  }
}

function resultSchema(part: ResultPart): v.GenericSchema {
  switch (part.type) {
    case 'asset':
      return AssetSchema;
    case 'lines':
      return v.array(LineSchema);
    case 'language':
      return v.string();
    case 'seconds':
      return Seconds;
  }
}
