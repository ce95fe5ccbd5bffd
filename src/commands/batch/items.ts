/** Items of a batch as records on stdout. */
import * as v from 'valibot';
import { cutsOf, describeResidue, describeSilence, droppedOf, fastOf } from '../../batch/item-provenance.ts';
import type { BatchFacts, ShardReport } from '../../batch/report/batch-facts.ts';
import { ITEM_STATES, type ItemReport } from '../../batch/report/item-report.ts';
import type { FolderWorker } from '../../batch/report/read-batch.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { shapeOf } from '../../protocol/shape.ts';
import type { TableHead } from '../context/context.ts';
import { formatRelative, showPath } from '../context/format.ts';
import type { Table } from '../context/output/presentation.ts';
import { ListSummary, listOf, NullableText } from '../context/output-schemas.ts';
import type { Column, RecordForm } from '../context/records.ts';
import { PLANS, ProvenanceSchema, RUN_FORMS, UNITS } from '../jobs/outputs.ts';
import { ATTENTION_REPORT } from './attention.ts';
import { CostSchema } from './costs.ts';

/** The names that --fields accepts. */
export const ITEM_FIELDS = [
  'label',
  'state',
  'kind',
  'target_language',
  'job_id',
  'error',
  'files',
  'credits',
  'is_free',
  'units',
  'attempts',
  'asked_at',
  'created_at',
  'finished_at',
  'downloaded_at',
  'deadline',
  'provenance',
  'shard',
  'folder',
  'key',
] as const satisfies readonly (keyof ItemReport)[];

const KIND: Column<ItemReport> = { head: 'KIND', field: 'kind' };
const SHARD: Column<ItemReport> = { head: 'SHARD', field: 'shard' };
const FOLDER: Column<ItemReport> = { head: { title: 'FOLDER', wraps: 20 }, field: 'folder' };

export const ITEMS: RecordForm<ItemReport> = {
  plural: 'items',
  idOf: ({ job_id }) => job_id ?? '',
  columns: [
    { head: { title: 'ITEM', wraps: 20 }, field: 'label' },
    { head: { title: 'STATE', status: true }, field: 'state' },
    { head: { title: 'JOB', drops: 1 }, field: 'job_id' },
    { head: { title: 'WHY', wraps: 30 }, field: 'error', text: describeProblem },
  ],
};

/** The table for people: with columns for kind, shard and folder if there are several. */
export function tableOf(items: readonly ItemReport[]): RecordForm<ItemReport> {
  const isSeveral = ({ field }: Column<ItemReport>) => new Set(items.map((item) => item[field])).size > 1;
  const more = [KIND, SHARD, FOLDER].filter(isSeveral);
  if (more.length === 0) return ITEMS;
  const columns = ITEMS.columns.flatMap((column) =>
    column.field === 'label' ? [column, ...more] : [column],
  );
  return { ...ITEMS, columns };
}

const SHARD_HEAD: readonly TableHead[] = [
  'SHARD',
  'MACHINE',
  'ITEMS',
  'DONE',
  'FAILED',
  'OPEN',
  { title: 'FOLDER', wraps: 20 },
];

/** The shards of a batch, below the table before; nothing for a batch without shards. */
export function shardTable({ shards }: BatchFacts, cwd: string): readonly (string | Table)[] {
  const rows = shards.map(({ shard, host, items, done, failed, open, folder }) => [
    shard,
    host ?? '-',
    ...[items, done, failed, open].map(String),
    showPath(folder, cwd),
  ]);
  return rows.length === 0 ? [] : ['', { head: SHARD_HEAD, rows }];
}

/** Cues that a row of the table lists. */
const FEW_NUMBERS = 12;

function describeProblem({ error, deadline, provenance }: ItemReport, nowMs: number): string {
  if (error !== null) return `${error.code}: ${error.message}${error.retryable ? ' (retryable)' : ''}`;
  if (deadline !== null) return `download link expires ${formatRelative(deadline, nowMs)}`;
  if (provenance === undefined) return '';
  const cuts = cutsOf(provenance, FEW_NUMBERS);
  const fast = fastOf(provenance, FEW_NUMBERS);
  const { lost_terms: lost = [] } = provenance;
  const dropped = droppedOf(provenance);
  const problems = [
    describeSilence(provenance),
    describeResidue(provenance),
    dropped.length === 0 ? null : `dropped texts: ${dropped.length}`,
    cuts && `cues cut off: ${cuts.numbers}`,
    fast && `fast cues: ${fast.numbers}`,
    lost.length === 0 ? null : `lost terms: ${lost.length}`,
  ];
  return problems.filter((text) => text !== null).join('; ');
}

const COUNT_HEAD: readonly TableHead[] = ['STATE', 'ITEMS'];

/** How many there are in each state. */
export function countTable({ counts }: BatchFacts): Table {
  const rows = ITEM_STATES.flatMap((state) => (counts[state] === 0 ? [] : [[state, String(counts[state])]]));
  return { head: COUNT_HEAD, rows };
}

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
    is_free: v.optional(v.literal(true)),
    units: v.optional(v.array(v.object({ unit: v.picklist(UNITS), quantity: v.number() }))),
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
  unnamed: v.array(v.string()),
  shards: v.array(ShardSchema),
  missing_shards: v.array(v.string()),
};

const STATUS = {
  ...REPORT,
  worker: v.nullable(WorkerSchema),
  workers: v.array(WorkerSchema),
  continue_with: v.array(v.string()),
};

export const BATCH_STATUS = {
  json: [v.object(STATUS)],
  ndjson: [ItemSchema, ListSummary],
};

/** The report in JSON, which is also printed with `--output ndjson`; other formats have no schema. */
const ATTRIBUTED = v.object({ ...REPORT, attributions: v.array(v.string()) });
/** Output of --dry-run: a plan for each kind of jobs and folder. */
const ATTENTION_PLAN = v.object({ object: v.literal('attention_plan'), plans: v.array(v.union(PLANS.json)) });
export const BATCH_REPORT = {
  json: [ATTRIBUTED, ATTENTION_REPORT, ATTENTION_PLAN, listOf(CostSchema)],
  ndjson: [ATTRIBUTED, ATTENTION_REPORT, ...PLANS.ndjson, CostSchema, ListSummary],
};

/** The forgotten items, as they were before. */
export const BATCH_FORGET = {
  json: [listOf(ItemSchema)],
  ndjson: [ItemSchema, ListSummary],
};

/** The outcomes of each command that ran again; with --dry-run, the items. */
export const BATCH_RETRY = {
  json: [...RUN_FORMS.json, listOf(ItemSchema)],
  ndjson: [...RUN_FORMS.ndjson, ItemSchema, ListSummary],
};
