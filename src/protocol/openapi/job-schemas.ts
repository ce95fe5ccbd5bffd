/** Strict validators of jobs: one per kind, generated from its row in the table. */
import * as v from 'valibot';
import type { Field } from '../fields.ts';
import { JOB_ERROR_CODES, type JobErrorCode } from '../job-failure.ts';
import { JOB_KIND_NAMES, type JobKind } from '../kind-names.ts';
import { KINDS, type Kind, type ResultPart } from '../kinds.ts';
import { LineSchema } from '../requests.ts';
import type { AssetResource, BillingResource, JobResource, JobSummary } from '../resources.ts';
import { JOB_STATUSES } from '../states.ts';
import { shapeOf } from './json-schemas.ts';
import { Count, Credits, Instant, idOf, Path, Reference, Seconds, Unit, Url } from './resource-schemas.ts';

export const AssetSchema = shapeOf<AssetResource>()(
  v.strictObject({
    url: Url,
    expires_at: Instant,
    content_type: v.string(),
    size_bytes: Count,
    sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  }),
);

export const BillingSchema = shapeOf<BillingResource>()(
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
export function summarySchema(kind: JobKind): v.GenericSchema {
  return v.strictObject({ ...SummarySchema.entries, ...namesOf(kind) });
}

/** The single resource of a kind: the fields of any job, with the input and the result of this kind. */
export function jobSchema(kind: JobKind): v.GenericSchema {
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
