/** What jobs have cost by folder, language and month. Pure. */
import { posix } from 'node:path';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { type Attempt, billOf } from '../records/attempts.ts';
import { isJoinedKey, readPartKey, wholeName } from '../records/item-key.ts';
import { createBudget } from '../run/budget.ts';
import { readItemKey } from './item-report.ts';

/** The jobs of a kind in a folder, a language and a month. */
export interface CostRow {
  /** `2026-11` in UTC: when the jobs finished, or were asked for if they have not. */
  readonly month: string;
  /** Of the inputs, below their root; null for jobs whose input was forgotten. */
  readonly folder: string | null;
  /** BCP 47 tag; null for jobs without one, such as recognitions. */
  readonly target_language: string | null;
  readonly kind: JobKind;
  /** True if the embedded service made them, whose credits cost nothing. */
  readonly is_free: boolean;
  readonly jobs: number;
  readonly unit: string;
  /** Units of the jobs for which the service reports them. */
  readonly quantity: number;
  /** Of jobs that are not finished. */
  readonly reserved: number;
  readonly charged: number;
  /** Jobs whose cost the service does not report. */
  readonly unknown: number;
}

/** @param attempts all of them, also those of results that were made anew since */
export function tabulateCosts(attempts: Iterable<Attempt>): readonly CostRow[] {
  const jobs = [...attempts].filter(({ key, job_id }) => job_id !== null && !isJoinedKey(key));
  const groups = Map.groupBy(jobs, (job) => JSON.stringify(groupOf(job)));
  const rows = [...groups.values()].flatMap((own) =>
    own[0] === undefined ? [] : [rowOf(groupOf(own[0]), own)],
  );
  return rows.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

type Group = Pick<CostRow, 'month' | 'folder' | 'target_language' | 'kind' | 'is_free'>;

function groupOf({ item, kind, is_free, asked_at, finished_at }: Attempt): Group {
  const named = item === null ? null : readItemKey(readPartKey(item)?.item ?? item);
  return {
    month: (finished_at ?? asked_at).slice(0, 'yyyy-mm'.length),
    folder: named === null ? null : posix.dirname(wholeName(named.name)),
    target_language: named?.language ?? null,
    kind,
    is_free,
  };
}

function rowOf(group: Group, jobs: readonly Attempt[]): CostRow {
  const budget = createBudget(null);
  for (const job of jobs) budget.bill(job.key, job.kind, billOf(job));
  const { reserved, charged, unknown } = budget.totals();
  return {
    ...group,
    jobs: jobs.length,
    unit: KINDS[group.kind].unit,
    quantity: jobs.reduce((sum, { quantity }) => sum + (quantity ?? 0), 0),
    ...{ reserved, charged, unknown },
  };
}

function nameOf({ month, folder, target_language, kind }: CostRow): string {
  return [month, folder, target_language, kind].join('\0');
}
