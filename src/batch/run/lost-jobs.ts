/** Records of damage to the journal, and of jobs that the service has and the journal lacks. Pure. */
import * as v from 'valibot';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import { JOB_STATUSES } from '../../protocol/states.ts';
import { DAMAGED } from '../records/append-log.ts';
import type { Intents } from '../records/intents.ts';
import { readRecord } from '../records/read-record.ts';
import type { LogRecord } from '../records/record-line.ts';

/** Written when damage was found on opening, or when other records have jobs that the journal lacks. */
const logDamaged = v.object({
  type: v.literal(DAMAGED),
  /** One sentence for each damaged place. */
  places: v.array(v.string()),
  /** Name of the file beside the journal with the damaged bytes; null if there are none. */
  kept: v.nullable(v.string()),
});

/** A job that the journal lacked when it was compared with the service. */
const lostJob = v.object({
  id: v.string(),
  status: v.picklist(JOB_STATUSES),
  /** RFC 3339. */
  created_at: v.string(),
  client_reference: v.nullable(v.string()),
});

/** A comparison with all jobs of a kind at the service. */
const jobsCompared = v.object({
  type: v.literal('jobs_compared'),
  kind: v.picklist(JOB_KIND_NAMES),
  jobs: v.array(lostJob),
  /** Ids of jobs that the service no longer has. */
  gone: v.array(v.string()),
});

export type LostJob = v.InferOutput<typeof lostJob>;
type JobsCompared = v.InferOutput<typeof jobsCompared>;

/** The record of damage that was found outside the journal. */
export function writeDamage(places: readonly string[]): LogRecord {
  return { type: DAMAGED, places: [...places], kept: null };
}

/** The record of a comparison. */
export function writeCompared(compared: Omit<JobsCompared, 'type'>): LogRecord {
  return { type: 'jobs_compared', ...compared };
}

interface Doubt {
  readonly places: readonly string[];
  /** Names of files beside the journal. */
  readonly kept: readonly string[];
}

/**
 * The damage since the last comparison with the service; null if there is none.
 * @param kind of the compared jobs; null for any kind
 */
export function findDoubt(records: readonly LogRecord[], kind: JobKind | null): Doubt | null {
  const isSettled = (record: LogRecord) => {
    const compared = readRecord(jobsCompared, record);
    return compared !== null && (kind === null || compared.kind === kind);
  };
  const open = records.slice(records.findLastIndex(isSettled) + 1);
  const found = open.flatMap((record) => readRecord(logDamaged, record) ?? []);
  if (found.length === 0) return null;
  return { places: found.flatMap(({ places }) => places), kept: found.flatMap(({ kept }) => kept ?? []) };
}

/** Ids of jobs that were compared with the service. */
export function comparedIds(records: readonly LogRecord[]): ReadonlySet<string> {
  const compared = records.flatMap((record) => readRecord(jobsCompared, record) ?? []);
  return new Set(compared.flatMap(({ jobs, gone }) => [...jobs.map(({ id }) => id), ...gone]));
}

/** Jobs that the service had and that belong to no item, newest first. */
export function findLostJobs(
  records: readonly LogRecord[],
  intents: Intents,
  kind: JobKind,
): readonly LostJob[] {
  const jobs = new Map<string, LostJob>();
  for (const record of records) {
    const compared = readRecord(jobsCompared, record);
    if (compared?.kind !== kind) continue;
    for (const job of compared.jobs) jobs.set(job.id, job);
  }
  const known = attachedIds(intents);
  const lost = [...jobs.values()].filter(({ id }) => !known.has(id));
  return lost.sort((left, right) => Date.parse(right.created_at) - Date.parse(left.created_at));
}

/** Ids of jobs whose items are known. */
export function attachedIds(intents: Intents): ReadonlySet<string> {
  return new Set(jobIds(intents, (asked) => asked !== null));
}

/** Ids of accepted jobs whose items are unknown. */
export function strayIds(intents: Intents): readonly string[] {
  return jobIds(intents, (asked) => asked === null);
}

function jobIds({ byKey }: Intents, isWanted: (asked: object | null) => boolean): string[] {
  return [...byKey.values()].flatMap(({ asked, outcome }) =>
    isWanted(asked) && 'record' in outcome && 'job_id' in outcome.record ? [outcome.record.job_id] : [],
  );
}
