/** Items of a batch as records on stdout. */

import type { BatchFacts } from '../../batch/report/batch-facts.ts';
import { ITEM_STATES, type ItemReport } from '../../batch/report/item-report.ts';
import { cutsOf, describeSilence } from '../../batch/report/making.ts';
import type { Context, TableHead } from '../../context/context.ts';
import { formatRelative } from '../../context/format.ts';
import type { Column, RecordForm } from '../../context/records.ts';

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
  'making',
  'key',
] as const satisfies readonly (keyof ItemReport)[];

const KIND: Column<ItemReport> = { head: 'KIND', field: 'kind' };

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

/** The table for people: with a KIND column if there are several kinds, as in stages. */
export function tableOf(items: readonly ItemReport[]): RecordForm<ItemReport> {
  if (new Set(items.map(({ kind }) => kind)).size < 2) return ITEMS;
  const columns = ITEMS.columns.flatMap((column) => (column.field === 'label' ? [column, KIND] : [column]));
  return { ...ITEMS, columns };
}

function describeProblem({ error, deadline, making }: ItemReport, nowMs: number): string {
  if (error !== null) return `${error.code}: ${error.message}${error.retryable ? ' (retryable)' : ''}`;
  if (deadline !== null) return `expires ${formatRelative(deadline, nowMs)}`;
  if (making === undefined) return '';
  const cuts = cutsOf(making);
  return describeSilence(making) ?? (cuts === null ? '' : `cues cut off: ${cuts.numbers}`);
}

const COUNT_HEAD: readonly TableHead[] = ['STATE', 'ITEMS'];

/** How many there are in each state. */
export function countTable({ terminal }: Pick<Context, 'terminal'>, { counts }: BatchFacts): Promise<string> {
  const rows = ITEM_STATES.flatMap((state) => (counts[state] === 0 ? [] : [[state, String(counts[state])]]));
  return terminal.table(COUNT_HEAD, rows);
}
