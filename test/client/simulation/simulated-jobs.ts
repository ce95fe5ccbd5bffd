/** The jobs of a simulated service, and how it describes them at a given time. */
import type { Work } from './work.ts';

export interface SimulatedJob {
  readonly id: string;
  readonly work: Work;
  readonly reference: unknown;
  readonly language: unknown;
  readonly createdMs: number;
}

export interface SimulatedJobs {
  /** Null when all slots are taken. The same key returns the same job. */
  create(key: string, request: Readonly<Record<string, unknown>>, nowMs: number): SimulatedJob | null;
  find(id: string): SimulatedJob | undefined;
  /** The newest first. @param cursor from the previous page; null for the first one */
  page(
    cursor: string | null,
    limit: number,
  ): { readonly jobs: readonly SimulatedJob[]; readonly next: string | null };
  /** In the order of their creation. */
  readonly all: readonly SimulatedJob[];
}

export const JOBS_PATH = '/v1/auto-localizations';

export function hasEnded({ createdMs, work }: SimulatedJob, nowMs: number): boolean {
  return nowMs - createdMs >= work.ms;
}

/** @param work of the jobs, in the order of their creation */
export function createSimulatedJobs(work: readonly Work[], slots: number): SimulatedJobs {
  const all: SimulatedJob[] = [];
  const byKey = new Map<string, SimulatedJob>();
  const positions = new Map<string, number>();
  let running: readonly SimulatedJob[] = [];
  return {
    all,
    create(key, request, nowMs) {
      const known = byKey.get(key);
      if (known !== undefined) return known;
      running = running.filter((job) => !hasEnded(job, nowMs));
      if (running.length >= slots) return null;
      const next = work[all.length];
      if (next === undefined) throw new Error('more jobs were created than there are items');
      const { client_reference: reference, target_language: language } = request;
      const job = { id: `loc_${all.length + 1}`, work: next, reference, language, createdMs: nowMs };
      byKey.set(key, job);
      positions.set(job.id, all.length);
      all.push(job);
      running = [...running, job];
      return job;
    },
    find: (id) => all[positions.get(id) ?? -1],
    page(cursor, limit) {
      const end = cursor === null ? all.length : Number(cursor);
      const start = Math.max(0, end - limit);
      return { jobs: all.slice(start, end).reverse(), next: start === 0 ? null : String(start) };
    },
  };
}

/** The entry of a list. */
export function summaryAt(job: SimulatedJob, nowMs: number): Readonly<Record<string, unknown>> {
  const ended = hasEnded(job, nowMs);
  const created_at = new Date(job.createdMs).toISOString();
  return {
    id: job.id,
    object: 'auto_localization',
    status: ended ? 'succeeded' : nowMs > job.createdMs ? 'processing' : 'queued',
    progress: ended ? 100 : job.work.progressAt(nowMs - job.createdMs),
    client_reference: job.reference,
    created_at,
    updated_at: created_at,
    detail_url: `${JOBS_PATH}/${job.id}`,
  };
}

/** The single resource, without its result. */
export function describeAt(job: SimulatedJob, nowMs: number): Readonly<Record<string, unknown>> {
  const { createdMs, work } = job;
  const ended = hasEnded(job, nowMs);
  return {
    ...summaryAt(job, nowMs),
    stage: null,
    input: { target_language: job.language },
    error: null,
    result: null,
    started_at: nowMs > createdMs ? new Date(createdMs).toISOString() : null,
    finished_at: ended ? new Date(createdMs + work.ms).toISOString() : null,
    billing: {
      status: ended ? 'settled' : 'reserved',
      unit: 'started_minute',
      quantity: work.minutes,
      reserved_credits: work.minutes,
      charged_credits: ended ? work.minutes : null,
    },
  };
}
