/** The five kinds of jobs: accepted, looked at three times, done. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ASSETS } from './media.ts';
import { sendError, sendJson } from './send.ts';
import type { Desk } from './service.ts';
import { jobShape, jobSummary, type StoredJob } from './shapes.ts';

export interface Asked {
  readonly method: string;
  /** Of the path, from the collection on. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly request: IncomingMessage;
}

/** Looks until a job has ended. */
const LOOKS = 3;

export function answerJobs(desk: Desk, asked: Asked, response: ServerResponse) {
  const [path = '', id] = asked.segments;
  if (ASSETS[path] === undefined) return sendError(response, 404, 'NO_SUCH_THING', 'There is none.');
  if (id === undefined)
    return asked.method === 'POST' ? create(desk, asked, response) : list(desk, asked, response);
  const job = desk.jobs.get(id);
  if (job === undefined || job.path !== path)
    return sendError(response, 404, 'NO_SUCH_THING', 'There is none.');
  if (asked.method === 'DELETE') {
    if (isOver(job)) return sendError(response, 409, 'TOO_LATE', 'It is over.');
    job.status = 'cancelled';
    return sendJson(desk, response, 202, jobShape(desk.has, desk.origin(), job));
  }
  look(desk, job);
  sendJson(desk, response, 200, jobShape(desk.has, desk.origin(), job));
}

function isOver({ status }: StoredJob): boolean {
  return status !== 'queued' && status !== 'processing';
}

function look({ hosted }: Desk, job: StoredJob): void {
  job.looks += 1;
  if (isOver(job)) return;
  job.status = job.looks < LOOKS ? 'processing' : hosted.endsAs;
}

function create(desk: Desk, { segments, fields, request }: Asked, response: ServerResponse): void {
  const { has, jobs, byKey } = desk;
  const key = String(request.headers['idempotency-key']);
  const id = byKey.get(key) ?? desk.makeId();
  byKey.set(key, id);
  const status = has('created-processing') ? 'processing' : 'queued';
  const made = { id, path: segments[0] ?? '', request: fields, createdAt: Date.now(), looks: 0, status };
  const job = jobs.get(id) ?? made;
  jobs.set(id, job);
  const shape = has('job-sparse') ? { id, status } : jobShape(has, desk.origin(), job);
  sendJson(desk, response, 202, shape);
}

/** One job a page, the newest first. */
function list(desk: Desk, { segments, query }: Asked, response: ServerResponse): void {
  const { has, jobs } = desk;
  const found = [...jobs.values()].filter(({ path }) => path === segments[0]).reverse();
  const cursor = query.get('cursor');
  const at = cursor === null ? 0 : Number(/\d+$/.exec(cursor)?.[0]);
  const more = at + 1 < found.length;
  const next = has('cursor-any') ? `p/+= ${at + 1}` : String(at + 1);
  const data = found.slice(at, at + 1).map((job) => jobSummary(has, desk.origin(), job));
  sendJson(desk, response, 200, { object: 'list', data, has_more: more, next_cursor: more ? next : null });
}
