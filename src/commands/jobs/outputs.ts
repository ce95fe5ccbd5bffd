/** Output schemas of commands that run jobs or deliver their results: outcomes, plans and events. */
import * as v from 'valibot';
import type { Doing, DoneBefore, ItemState, StopReason } from '../../batch/item.ts';
import type { ItemProvenance } from '../../batch/item-provenance.ts';
import type { Forecast, ItemForecast } from '../../batch/plan/dry-run.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { CUE_FITS, DROP_REASONS, PROVENANCE_STEPS } from '../../protocol/provenance.ts';
import { shapeOf } from '../../protocol/shape.ts';
import { JOB_STATUSES } from '../../protocol/states.ts';
import { lineOf, NullableNumber, NullableText } from '../context/output-schemas.ts';
import type { SampleReport } from './sample.ts';

export const ProvenanceSchema = shapeOf<ItemProvenance>()(
  v.object({
    engines: v.array(
      v.object({
        step: v.picklist(PROVENANCE_STEPS),
        engine: v.string(),
        skipped: v.array(v.string()),
        reused: v.exactOptional(v.boolean()),
        where: v.exactOptional(v.string()),
        silent: v.exactOptional(v.boolean()),
        unshown: v.exactOptional(v.array(v.string())),
        mixed: v.exactOptional(v.number()),
        dropped: v.exactOptional(
          v.array(
            v.object({
              start_ms: v.number(),
              end_ms: v.number(),
              text: v.string(),
              reason: v.picklist(DROP_REASONS),
              part: v.exactOptional(v.number()),
            }),
          ),
        ),
        residue: v.exactOptional(v.number()),
      }),
    ),
    cues: v.array(
      v.object({
        cues: v.array(v.number()),
        fit: v.picklist(CUE_FITS),
        speed: v.number(),
        tempo: v.number(),
        cut_seconds: v.number(),
        shift_seconds: v.exactOptional(v.number()),
        part: v.exactOptional(v.number()),
      }),
    ),
    lost_terms: v.exactOptional(
      v.array(
        v.object({
          file: v.string(),
          row: v.number(),
          term: v.string(),
          expected: v.string(),
          missing: v.number(),
          text: v.optional(v.string()),
          is_masked: v.optional(v.literal(true)),
        }),
      ),
    ),
    missing_cues: v.exactOptional(
      v.array(v.object({ cue: v.number(), start_ms: v.number(), end_ms: v.number(), text: v.string() })),
    ),
  }),
);

const FILE = {
  asset: v.string(),
  path: v.string(),
  bytes: NullableNumber,
  sha256: NullableText,
  kept: v.optional(v.string()),
  skipped: v.boolean(),
};

const OutcomeSchema = v.object({
  input: v.string(),
  id: NullableText,
  kind: v.nullable(v.picklist(JOB_KIND_NAMES)),
  status: v.nullable(v.picklist(JOB_STATUSES)),
  target_language: NullableText,
  client_reference: NullableText,
  charged_credits: NullableNumber,
  expires_at: NullableText,
  files: v.array(v.object(FILE)),
  error: v.nullable(
    v.object({ code: v.string(), message: v.string(), request_id: NullableText, retryable: v.boolean() }),
  ),
  provenance: v.optional(ProvenanceSchema),
});

const Outcomes = v.object({ object: v.literal('list'), data: v.array(OutcomeSchema) });

export const UNITS = Object.values(KINDS).map(({ unit }) => unit);

const SampleSchema = shapeOf<SampleReport>()(
  v.object({
    units: v.array(v.object({ unit: v.picklist(UNITS), quantity: v.number(), whole_quantity: v.number() })),
    charged_credits: NullableNumber,
    whole_credits: NullableNumber,
    continue: v.string(),
  }),
);

/** With --sample. */
const RunOutcomes = v.object({ ...Outcomes.entries, sample: v.optional(SampleSchema) });

const JobEvent = lineOf('job', {
  id: v.string(),
  status: v.picklist(JOB_STATUSES),
  stage: NullableText,
  progress: NullableNumber,
});
const FileEvent = lineOf('file', { id: NullableText, ...FILE });
const ProvenanceEvent = lineOf('provenance', { id: NullableText, ...ProvenanceSchema.entries });
const FailedEvent = lineOf('failed', {
  input: v.optional(v.string()),
  target_language: v.optional(NullableText),
  id: NullableText,
  code: v.string(),
  message: v.string(),
  retryable: v.optional(v.boolean()),
  request_id: v.optional(NullableText),
});

/** Output of `jobs wait`, `jobs download` and `jobs cancel`. */
export const DELIVERIES = {
  json: [Outcomes],
  ndjson: [
    JobEvent,
    FileEvent,
    ProvenanceEvent,
    FailedEvent,
    lineOf('summary', { jobs: v.number(), failed: v.number(), exit_code: v.optional(v.number()) }),
  ],
};

const PHASES = [
  'waiting',
  'preparing',
  'uploading',
  'validating',
  'ready',
  'submitting',
  'queued',
  'processing',
  'downloading',
  'done',
  'failed',
  'left',
] as const satisfies readonly ItemState['phase'][];
const DOING = [
  'reading',
  'converting',
  'cutting',
  'joining',
  'exporting',
] as const satisfies readonly Doing[];
const DONE_BEFORE = ['downloaded', 'exists', 'recorded'] as const satisfies readonly DoneBefore[];
const STOP_REASONS = [
  'max-credits',
  'price-unknown',
  'no-credits',
  'quota',
  'max-duration',
  'authentication',
  'network',
  'interrupted',
  'broken',
  'timeout',
  'detached',
] as const satisfies readonly StopReason[];

const RUN_EVENTS = [
  lineOf('uploaded', { input: v.string(), upload_id: v.string(), bytes: v.number() }),
  lineOf('part', {
    input: v.string(),
    target_language: NullableText,
    part: v.number(),
    of: v.number(),
    id: v.string(),
  }),
  lineOf('window', { size: v.number(), in_flight: v.number() }),
  lineOf('credits', { reserved: v.number(), charged: v.number(), unknown: v.number() }),
  lineOf('stop', { reason: v.picklist(STOP_REASONS), message: v.string() }),
  lineOf('left_out', { input: v.string(), message: v.string() }),
  lineOf('item', {
    key: v.string(),
    label: v.string(),
    kind: v.picklist(JOB_KIND_NAMES),
    target_language: NullableText,
    phase: v.picklist(PHASES),
    job_id: NullableText,
    at: v.string(),
    before: v.optional(v.nullable(v.picklist(DONE_BEFORE))),
    charged_credits: v.optional(NullableNumber),
    doing: v.optional(v.picklist(DOING)),
    because: v.optional(v.picklist(STOP_REASONS)),
  }),
  lineOf('created', { input: v.string(), id: v.string(), target_language: NullableText }),
  JobEvent,
  FileEvent,
  ProvenanceEvent,
  FailedEvent,
  lineOf('sample', SampleSchema.entries),
  lineOf('summary', {
    jobs: v.number(),
    done: v.number(),
    failed: v.number(),
    left: v.number(),
    charged_credits: NullableNumber,
    reserved_credits: NullableNumber,
    exit_code: v.number(),
  }),
];

const LineCountsSchema = v.object({ lines: v.number(), from_memory: v.number(), to_pay: v.number() });

const ItemForecastSchema = shapeOf<ItemForecast>()(
  v.object({
    input: v.string(),
    target_language: NullableText,
    status: v.picklist(['new', 'continue', 'done before', 'failed before', 'expired', 'not usable']),
    job_id: NullableText,
    conversion: v.nullable(v.picklist(['remuxed', 'transcoded', 'still', 'copied', 'put together'])),
    still: v.exactOptional(v.object({ bytes: v.number(), seconds: v.number() })),
    parts: v.number(),
    speakers: v.optional(
      v.array(
        v.object({
          speaker: NullableText,
          voice_mode: v.string(),
          cues: v.number(),
          unit: v.picklist(UNITS),
          quantity: v.number(),
        }),
      ),
    ),
    unit: v.nullable(v.picklist(UNITS)),
    quantity: NullableNumber,
    redubbed: v.exactOptional(v.object({ cues: v.number(), of: v.number() })),
    credits: NullableNumber,
    results: v.nullable(v.array(v.string())),
    problem: NullableText,
    memory: v.exactOptional(LineCountsSchema),
  }),
);

const ForecastSchema = shapeOf<Forecast>()(
  v.object({
    object: v.literal('plan'),
    kind: v.picklist(JOB_KIND_NAMES),
    jobs: v.number(),
    continued: v.number(),
    done_before: v.number(),
    failed_before: v.number(),
    expired: v.number(),
    not_usable: v.number(),
    uploads: v.number(),
    upload_bytes: v.number(),
    quantity: v.number(),
    unmeasured: v.number(),
    credits: NullableNumber,
    balance: NullableNumber,
    memory: v.exactOptional(LineCountsSchema),
    items: v.array(ItemForecastSchema),
  }),
);

export const RUN_FORMS = { json: [RunOutcomes], ndjson: RUN_EVENTS };

/** Additional fields in the plan of a shard. */
const SHARE = { shard: v.optional(v.string()), items_of_all_shards: v.optional(v.number()) };
const { items: _items, ...FORECAST_SUM } = ForecastSchema.entries;
const LIMIT = {
  limit: v.nullable(
    v.object({
      max_credits: v.number(),
      verdict: v.picklist(['fits', 'stops', 'price unknown', 'size unknown']),
      job: v.nullable(
        v.object({
          kind: v.picklist(JOB_KIND_NAMES),
          input: v.string(),
          target_language: NullableText,
        }),
      ),
      before_credits: NullableNumber,
      after_credits: NullableNumber,
    }),
  ),
};
const STAGES_SUM = {
  ...LIMIT,
  jobs: v.number(),
  credits: NullableNumber,
  one_job_credits: v.optional(NullableNumber),
};
const PROBLEM = { input: v.string(), target_language: NullableText, problem: v.string() };

/** Output of --dry-run for jobs of one kind. */
export const PLANS = {
  json: [v.object({ ...ForecastSchema.entries, ...SHARE, ...LIMIT })],
  ndjson: [
    lineOf('item', ItemForecastSchema.entries),
    lineOf('summary', { ...FORECAST_SUM, ...SHARE, ...LIMIT }),
  ],
};

/** Output of a job command, with and without --dry-run. */
export const JOB_RUN = {
  json: [RunOutcomes, ...PLANS.json],
  ndjson: [...RUN_EVENTS, ...PLANS.ndjson],
};

/** Output of `localize`, which may run in stages. */
export const STAGED_RUN = {
  json: [
    RunOutcomes,
    ...PLANS.json,
    v.object({
      object: v.literal('stages'),
      ...SHARE,
      ...STAGES_SUM,
      stages: v.array(ForecastSchema),
      results: v.array(v.string()),
      not_usable: v.array(v.object(PROBLEM)),
    }),
  ],
  ndjson: [
    ...RUN_EVENTS,
    ...PLANS.ndjson,
    lineOf('stage', ForecastSchema.entries),
    lineOf('not_usable', PROBLEM),
    lineOf('summary', STAGES_SUM),
  ],
};
