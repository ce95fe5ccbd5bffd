/** Items of a batch as records on stdout. */

import type { BatchFacts } from '../../batch/report/batch-facts.ts';
import { ITEM_STATES, type ItemReport } from '../../batch/report/item-report.ts';
import { cutsOf, describeSilence, fastOf } from '../../batch/report/provenance.ts';
import type { Context, TableHead } from '../context/context.ts';
import { formatRelative, showPath } from '../context/format.ts';
import type { Column, RecordForm } from '../context/records.ts';

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
const FOLDER: Column<ItemReport> = { head: { title: 'FOLDER', shrinks: 1 }, field: 'folder' };

export const ITEMS: RecordForm<ItemReport> = {
  plural: 'items',
  idOf: ({ job_id }) => job_id ?? '',
  columns: [
    { head: { title: 'ITEM', shrinks: 1, least: 20 }, field: 'label' },
    { head: { title: 'STATE', status: true }, field: 'state' },
    { head: { title: 'JOB', drops: true }, field: 'job_id' },
    { head: { title: 'WHY', shrinks: 2, least: 30 }, field: 'error', text: describeProblem },
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
  { title: 'FOLDER', shrinks: 1 },
];

/** The shards of a batch; null for a batch without shards. */
export async function shardTable(
  { terminal, io }: Pick<Context, 'terminal' | 'io'>,
  { shards }: BatchFacts,
): Promise<string | null> {
  if (shards.length === 0) return null;
  const rows = shards.map(({ shard, host, items, done, failed, open, folder }) => [
    shard,
    host ?? '-',
    ...[items, done, failed, open].map(String),
    showPath(folder, io.cwd),
  ]);
  return terminal.table(SHARD_HEAD, rows);
}

/** Cues that a row of the table lists. */
const FEW_NUMBERS = 12;

function describeProblem({ error, deadline, provenance }: ItemReport, nowMs: number): string {
  if (error !== null) return `${error.code}: ${error.message}${error.retryable ? ' (retryable)' : ''}`;
  if (deadline !== null) return `download link expires ${formatRelative(deadline, nowMs)}`;
  if (provenance === undefined) return '';
  const cuts = cutsOf(provenance, FEW_NUMBERS);
  const fast = fastOf(provenance, FEW_NUMBERS);
  const problems = [
    describeSilence(provenance),
    cuts && `cues cut off: ${cuts.numbers}`,
    fast && `fast cues: ${fast.numbers}`,
  ];
  return problems.filter((text) => text !== null).join('; ');
}

const COUNT_HEAD: readonly TableHead[] = ['STATE', 'ITEMS'];

/** How many there are in each state. */
export function countTable({ terminal }: Pick<Context, 'terminal'>, { counts }: BatchFacts): Promise<string> {
  const rows = ITEM_STATES.flatMap((state) => (counts[state] === 0 ? [] : [[state, String(counts[state])]]));
  return terminal.table(COUNT_HEAD, rows);
}
