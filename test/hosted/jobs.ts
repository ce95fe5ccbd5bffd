/** The five kinds of jobs: accepted, worked on for so many looks or for so long, done. */
import { createHash } from 'node:crypto';
import { listPage } from './lists.ts';
import { ASSETS, type Given, type Line, makeFiles, readSrt } from './media.ts';
import { type Answer, NOT_FOUND, problem } from './send.ts';
import type { Asked, Desk } from './service.ts';
import { jobShape, jobSummary, type StoredJob } from './shapes.ts';

/** Looks until a job has ended, where nothing else is chosen. */
const LOOKS = 3;
const NO_INPUT = problem(422, 'INPUT_NOT_USABLE', 'The input is no ready upload and no public address.');

export function answerJobs(desk: Desk, asked: Asked): Answer {
  const { segments, owner, method, query } = asked;
  const [path = '', id] = segments;
  if (ASSETS[path] === undefined) return NOT_FOUND;
  if (id === undefined) {
    if (method === 'POST') return create(desk, asked);
    const own = [...desk.jobs.values()].filter((job) => job.path === path && job.owner === owner);
    for (const job of own) settle(desk, job);
    return listPage(desk, 'jobs', query, own, (job) => jobSummary(desk, job));
  }
  const job = desk.jobs.get(id);
  if (job === undefined || job.path !== path || job.owner !== owner) return NOT_FOUND;
  settle(desk, job);
  const shape = () => jobShape(desk, job);
  if (method === 'DELETE') {
    if (isOver(job)) return problem(409, 'TOO_LATE', 'It is over.');
    job.status = 'cancelled';
    job.endedAt = desk.now();
    return { status: 202, body: shape };
  }
  job.looks += 1;
  settle(desk, job);
  return { status: 200, body: shape };
}

export function isOver({ status }: StoredJob): boolean {
  return status !== 'queued' && status !== 'processing';
}

/** Brings a job to where it is by now. */
export function settle(desk: Desk, job: StoredJob): void {
  const { hosted, options, now } = desk;
  if (isOver(job)) return;
  const age = now() - job.createdAt;
  const { jobMs } = options;
  const isDone = jobMs === null ? job.looks >= LOOKS : age >= jobMs(job);
  if (jobMs === null ? job.looks > 0 : age > 0) job.status = 'processing';
  if (!isDone || hosted.isHeld) return;
  job.status = hosted.endsAs;
  job.endedAt = now();
  if (job.status !== 'succeeded') return;
  job.files = makeFiles(job, options.translate);
  desk.ledger.push({ owner: job.owner, number: desk.nextNumber(), createdAt: now(), amount: -1 });
}

/** A public address that every program reads alike. Source: specification, "Behavior", 4. */
const PUBLIC = /^https:\/\/[a-z0-9-]+(\.[a-z0-9-]+)*\.(?!internal\b)[a-z]+(\/[^\s\\]*)?$/i;
/** Source: specification, "Limits". */
const MOST_LINES = 10_000;

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The video or the lines that a request names; null when they cannot be used. */
function givenBy(desk: Desk, { fields, owner }: Asked, isVideo: boolean): Given | null {
  // Checked below: whatever has been sent.
  const source = Object(isVideo ? fields.source : fields.subtitle) as Record<string, unknown>;
  if (source.type === 'lines' && !isVideo && Array.isArray(source.lines)) {
    const lines: readonly Line[] = source.lines;
    return lines.length > 0 && lines.length <= MOST_LINES
      ? { bytes: Buffer.from(JSON.stringify(lines)), lines }
      : null;
  }
  if (source.type === 'url') {
    const url = textOf(source.url);
    if (url === null || !PUBLIC.test(url)) return null;
    const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }];
    return { bytes: Buffer.from(url), lines };
  }
  const upload = desk.uploads.get(String(source.upload_id));
  const purpose = isVideo ? 'source_video' : 'subtitle_file';
  if (source.type !== 'upload' || upload?.owner !== owner) return null;
  if (upload.status !== 'ready' || upload.purpose !== purpose || upload.bytes === null) return null;
  return { bytes: upload.bytes, lines: isVideo ? [] : readSrt(upload.bytes.toString('utf8')) };
}

function create(desk: Desk, asked: Asked): Answer {
  const { segments, fields, owner, intent } = asked;
  const { has, jobs, options } = desk;
  const path = segments[0] ?? '';
  const isVideo =
    path === 'audio-separations' || path === 'subtitle-recognitions' || path === 'auto-localizations';
  const needsLanguage = path !== 'audio-separations' && path !== 'subtitle-recognitions';
  const asIs = isVideo ? fields.source : fields.subtitle;
  if (asIs === undefined || Array.isArray(asIs)) {
    return problem(400, 'INVALID_REQUEST', 'There is not one input.');
  }
  if (needsLanguage && textOf(fields.target_language) === null) {
    return problem(400, 'INVALID_REQUEST', 'target_language is missing.');
  }
  const given = givenBy(desk, asked, isVideo);
  if (given === null) return NO_INPUT;
  const all = [...jobs.values()];
  for (const job of all) settle(desk, job);
  const open = all.filter((job) => !isOver(job)).length;
  if (open >= options.slots) {
    return problem(429, 'CONCURRENCY_LIMIT_EXCEEDED', 'All slots are taken.', {
      retryable: true,
      headers: { 'retry-after': '1' },
    });
  }
  if (desk.ledger.length + open > options.credits) {
    return problem(402, 'INSUFFICIENT_CREDITS', 'No credits are left.');
  }
  const number = desk.nextNumber();
  const input = createHash('sha256').update(given.bytes).digest('hex');
  const language = textOf(fields.target_language) ?? textOf(fields.source_language) ?? 'en';
  const id = desk.makeId(number);
  const job: StoredJob = {
    ...{ number, id, path, owner, intent, given, input, language },
    mark: options.mark({ id, path, input, language }),
    request: fields,
    reference: fields.client_reference,
    createdAt: desk.now(),
    looks: 0,
    status: has('created-processing') ? 'processing' : 'queued',
    endedAt: null,
    files: {},
    downloads: {},
  };
  jobs.set(id, job);
  const body = () => (has('job-sparse') ? { id, status: job.status } : jobShape(desk, job));
  return { status: 202, body, headers: { location: `/v1/${path}/${encodeURIComponent(id)}` } };
}
