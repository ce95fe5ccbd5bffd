/** Records of damage to the record of a batch, and of jobs that the service has and the record lacks. Pure. */
import type { JobKind } from '../../protocol/kind-names.ts';
import type { JobStatus } from '../../protocol/states.ts';
import type { Attempts } from './attempts.ts';
import type { BatchRecords } from './batch-records.ts';

/** Written when damage was found on opening, or when other records have jobs that the batch lacks. */
export interface DamageRecord {
  readonly type: 'log_damaged';
  /** One sentence for each damaged place. */
  readonly places: readonly string[];
  /** Name of the damaged file, which is kept beside the record; null if there is none. */
  readonly kept: string | null;
}

/** A job that the batch lacked when it was compared with the service. */
export interface LostJob {
  readonly id: string;
  readonly status: JobStatus;
  /** RFC 3339. */
  readonly created_at: string;
  readonly client_reference: string | null;
}

/** A comparison with all jobs of a kind at the service. */
export interface ComparedRecord {
  readonly type: 'jobs_compared';
  readonly kind: JobKind;
  readonly jobs: readonly LostJob[];
  /** Ids of jobs that the service no longer has. */
  readonly gone: readonly string[];
}

interface Doubt {
  readonly places: readonly string[];
  /** Names of files beside the record. */
  readonly kept: readonly string[];
}

/**
 * The damage since the last comparison with the service; null if there is none.
 * @param kind of the compared jobs; null for any kind
 */
export function findDoubt({ damages }: Pick<BatchRecords, 'damages'>, kind: JobKind | null): Doubt | null {
  const open = damages.filter(({ comparedSince }) =>
    kind === null ? comparedSince.length === 0 : !comparedSince.includes(kind),
  );
  if (open.length === 0) return null;
  return { places: open.flatMap(({ places }) => places), kept: open.flatMap(({ kept }) => kept ?? []) };
}

/** Jobs that the service had and that belong to no item, newest first. */
export function findLostJobs(
  { lostJobs, attempts }: Pick<BatchRecords, 'lostJobs' | 'attempts'>,
  kind: JobKind,
): readonly LostJob[] {
  const known = attachedIds(attempts);
  const lost = lostJobs.flatMap((each) =>
    each.kind === kind && !known.has(each.id) ? (each.job ?? []) : [],
  );
  return lost.sort((left, right) => Date.parse(right.created_at) - Date.parse(left.created_at));
}

/** Ids of the jobs that the records have. */
export function attachedIds({ byKey }: Attempts): ReadonlySet<string> {
  return new Set([...byKey.values()].flatMap(({ job_id }) => job_id ?? []));
}
