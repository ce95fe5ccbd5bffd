/** What the service at the far end has, and what it answers at an instant: pure but for what it remembers. */
import { createHash } from 'node:crypto';
import {
  createSimulatedJobs,
  describeAt,
  hasEnded,
  JOBS_PATH,
  type SimulatedJob,
  type SimulatedJobs,
  summaryAt,
} from '../../../client/simulation/simulated-jobs.ts';
import type { Work } from '../../../client/simulation/work.ts';

/** What was asked, and when. */
export interface Counts {
  /** Instants of the first pages of lists. */
  readonly rounds: number[];
  lists: number;
  /** Reads of a job: before its end, and after it. */
  looks: number;
  results: number;
  /** Jobs that there was no slot for. */
  refusals: number;
  uploads: number;
  downloads: number;
}

export interface FarEnd {
  readonly jobs: SimulatedJobs;
  /** When the client first knew that a job had ended, by its id. */
  readonly toldMs: Map<string, number>;
  /** When uploads are ready, by their ids. */
  readonly uploads: Map<string, number>;
  readonly counts: Counts;
  readonly travelMs: number;
}

export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly key: string;
  readonly body: Buffer;
  readonly nowMs: number;
}

export interface Reply {
  readonly status: number;
  readonly body: object | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Entries of a page. Source: specification, "List query parameters". */
const PAGE = 50;
/** Until the bytes of an upload are judged. */
const VALIDATION_MS = 3_000;
const LINKS_MS = 7 * 24 * 60 * 60_000;

const RESULT = Buffer.from('a localized video '.repeat(50));
const RESULT_SHA256 = createHash('sha256').update(RESULT).digest('hex');

export function createFarEnd(work: readonly Work[], slots: number, travelMs: number): FarEnd {
  const counts = { rounds: [], lists: 0, looks: 0, results: 0, refusals: 0, uploads: 0, downloads: 0 };
  return { jobs: createSimulatedJobs(work, slots), toldMs: new Map(), uploads: new Map(), counts, travelMs };
}

export function answerAt(far: FarEnd, asked: Asked): Reply {
  const { method, url } = asked;
  const [, first = '', , id = '', action] = url.pathname.split('/');
  if (first === 'files') {
    far.counts.downloads += 1;
    return { status: 200, body: RESULT };
  }
  if (first === 'objects') return storeObject(asked);
  if (url.pathname === '/v1/uploads') return reserveUpload(far, asked);
  if (url.pathname.startsWith('/v1/uploads/')) {
    if (action === 'completions') far.uploads.set(id, asked.nowMs + VALIDATION_MS);
    return readUpload(far, id, asked);
  }
  if (url.pathname !== JOBS_PATH) return readJob(far, id, asked);
  return method === 'POST' ? createJob(far, asked) : listJobs(far, asked);
}

function listJobs(far: FarEnd, { url, nowMs }: Asked): Reply {
  const cursor = url.searchParams.get('cursor');
  far.counts.lists += 1;
  if (cursor === null) far.counts.rounds.push(nowMs);
  const { jobs, next } = far.jobs.page(cursor, PAGE);
  for (const job of jobs) noteTold(far, job, nowMs);
  const data = jobs.map((job) => summaryAt(job, nowMs));
  return { status: 200, body: { object: 'list', data, has_more: next !== null, next_cursor: next } };
}

function readJob(far: FarEnd, id: string, { nowMs }: Asked): Reply {
  const job = far.jobs.find(id);
  if (job === undefined) return refuse(404, 'RESOURCE_NOT_FOUND', false);
  if (hasEnded(job, nowMs)) far.counts.results += 1;
  else far.counts.looks += 1;
  noteTold(far, job, nowMs);
  return { status: 200, body: present(job, nowMs) };
}

/** The answer that leaves now may be the first with an end. */
function noteTold({ toldMs, travelMs }: FarEnd, job: SimulatedJob, nowMs: number): void {
  if (hasEnded(job, nowMs) && !toldMs.has(job.id)) toldMs.set(job.id, nowMs + travelMs);
}

function createJob(far: FarEnd, { key, body, nowMs }: Asked): Reply {
  const job = far.jobs.create(key, JSON.parse(body.toString()), nowMs);
  if (job !== null) return { status: 202, body: present(job, nowMs) };
  far.counts.refusals += 1;
  return refuse(429, 'CONCURRENCY_LIMIT_EXCEEDED', true);
}

function present(job: SimulatedJob, nowMs: number): object {
  const expires_at = timeOf(nowMs + LINKS_MS);
  const about = { content_type: 'video/mp4', size_bytes: RESULT.length, sha256: RESULT_SHA256 };
  const video = { url: `/files/${job.id}`, expires_at, ...about };
  const result = hasEnded(job, nowMs) ? { video, duration_seconds: 1 } : null;
  return { ...describeAt(job, nowMs), result, expires_at };
}

function reserveUpload({ counts }: FarEnd, { nowMs }: Asked): Reply {
  counts.uploads += 1;
  const id = `upl_${counts.uploads}`;
  const target = {
    method: 'PUT',
    url: `/objects/-/${id}`,
    headers: {},
    expires_at: timeOf(nowMs + LINKS_MS),
  };
  return {
    status: 201,
    body: { id, object: 'upload', status: 'waiting_for_upload', upload_request: target },
  };
}

function readUpload({ uploads }: FarEnd, id: string, { nowMs }: Asked): Reply {
  const status = nowMs < (uploads.get(id) ?? Number.POSITIVE_INFINITY) ? 'validating' : 'ready';
  const media = { duration_seconds: 60, container: 'mp4', video: null, audio: null };
  const expires_at = timeOf(nowMs + LINKS_MS);
  return { status: 200, body: { id, object: 'upload', status, media, expires_at, upload_request: null } };
}

function storeObject({ body }: Asked): Reply {
  const etag = createHash('md5').update(body).digest('hex');
  return { status: 200, body: Buffer.alloc(0), headers: { etag: `"${etag}"` } };
}

function refuse(status: number, code: string, retryable: boolean): Reply {
  const body = { type: 'about:blank', title: code, status, code, detail: code, retryable };
  return { status, body, headers: { 'content-type': 'application/problem+json' } };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
