/** What commands print about a folder of results. */
import * as v from 'valibot';
import type { ShardReport } from '../../batch/report/batch-facts.ts';
import { ITEM_STATES, type ItemReport } from '../../batch/report/item-report.ts';
import type { FolderWorker } from '../../batch/report/read-batch.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { shapeOf } from '../../protocol/openapi/json-schemas.ts';
import { describePrinted, ListSummary, listOf, NullableText } from '../context/output-schemas.ts';
import { ProvenanceSchema, RUN_FORMS } from '../jobs/outputs.ts';

const ItemSchema = shapeOf<ItemReport>()(
  v.object({
    key: v.string(),
    label: v.string(),
    kind: v.picklist(JOB_KIND_NAMES),
    target_language: NullableText,
    state: v.picklist(ITEM_STATES),
    job_id: NullableText,
    error: v.nullable(
      v.object({
        code: v.string(),
        message: v.string(),
        retryable: v.boolean(),
        request_id: NullableText,
      }),
    ),
    files: v.array(
      v.object({ asset: NullableText, path: v.string(), bytes: v.number(), sha256: v.string() }),
    ),
    credits: v.nullable(v.object({ reserved: v.number(), charged: v.number() })),
    attempts: v.number(),
    asked_at: NullableText,
    created_at: NullableText,
    finished_at: NullableText,
    downloaded_at: NullableText,
    deadline: NullableText,
    provenance: v.exactOptional(ProvenanceSchema),
    shard: v.exactOptional(v.string()),
    folder: v.exactOptional(v.string()),
  }),
);

const ShardSchema = shapeOf<ShardReport>()(
  v.object({
    shard: v.string(),
    folder: v.string(),
    host: NullableText,
    items: v.number(),
    done: v.number(),
    failed: v.number(),
    open: v.number(),
  }),
);

const WorkerSchema = shapeOf<FolderWorker>()(
  v.object({ pid: v.number(), host: v.string(), since: v.string(), certain: v.boolean() }),
);

const REPORT = {
  object: v.literal('batch_report'),
  folder: v.optional(v.string()),
  folders: v.optional(v.array(v.string())),
  made_at: v.string(),
  items: v.array(ItemSchema),
  counts: v.object(Object.fromEntries(ITEM_STATES.map((state) => [state, v.number()]))),
  credits: v.nullable(v.object({ reserved: v.number(), charged: v.number(), unknown: v.number() })),
  open_questions: v.array(v.string()),
  next_deadline: NullableText,
  commands: v.array(
    v.object({
      at: v.string(),
      argv: v.array(v.string()),
      cwd: v.string(),
      profile: NullableText,
      host: v.optional(v.string()),
    }),
  ),
  damaged: v.number(),
  stray_jobs: v.array(v.string()),
  shards: v.array(ShardSchema),
  missing_shards: v.array(v.string()),
};

const STATUS = {
  ...REPORT,
  worker: v.nullable(WorkerSchema),
  workers: v.array(WorkerSchema),
  continue_with: v.array(v.string()),
};

export const BATCH_STATUS = describePrinted({
  json: [v.object(STATUS)],
  ndjson: [ItemSchema, ListSummary],
});

/** Of `batch report`, as long as `--format` asks for no other form. */
export const BATCH_REPORT = describePrinted({ json: [v.object(REPORT)], ndjson: [v.object(REPORT)] });

/** The forgotten items, as they were before. */
export const BATCH_FORGET = describePrinted({
  json: [listOf(ItemSchema)],
  ndjson: [ItemSchema, ListSummary],
});

/** The outcomes of each command that ran again; with --dry-run, the items. */
export const BATCH_RETRY = describePrinted({
  json: [...RUN_FORMS.json, listOf(ItemSchema)],
  ndjson: [...RUN_FORMS.ndjson, ItemSchema, ListSummary],
});
