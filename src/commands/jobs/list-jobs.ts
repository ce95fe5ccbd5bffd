/** Jobs of several kinds as one list, and how jobs are shown. */

import * as v from 'valibot';
import { Failure } from '../../base/failure.ts';
import { listOption } from '../../base/option.ts';
import type { Client, Job, JobFilters, JobSummary, ListPage } from '../../client/index.ts';
import { isNotPermitted } from '../../client/jobs/jobs.ts';
import { jobFields, jobSummaryFields } from '../../client/read/job.ts';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { kindOfPath } from '../../protocol/operations.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { formatRelative } from '../context/format.ts';
import { type ListRequest, readPages } from '../context/lists.ts';
import type { RecordForm } from '../context/records.ts';

const COMMANDS = Object.values(KINDS).map(({ command }) => command);
/** The names that --kind accepts; it also accepts API paths. */
export const KIND_CHOICES: readonly string[] = [...COMMANDS, ...JOB_KIND_NAMES];

export const KIND_OPTION = listOption(
  'kinds',
  `only jobs of these kinds: ${COMMANDS.join(', ')}, or their full names`,
  { tool: 'text' },
);

export interface KindChoice {
  readonly kinds: readonly JobKind[];
  /** True if the user named the kinds. */
  readonly areNamed: boolean;
}

/**
 * The kinds that --kind names, by command, name or path; all five without it.
 * @throws Failure of category usage for an unknown one
 */
export function readKinds(written: readonly string[]): KindChoice {
  if (written.length === 0) return { kinds: JOB_KIND_NAMES, areNamed: false };
  const kinds = written.map((text) => {
    const kind =
      JOB_KIND_NAMES.find((name) => name === text || KINDS[name].command === text) ?? kindOfPath(text);
    if (kind !== null) return kind;
    throw invalidCallFailure(`unknown kind of job: ${text}`, `Choose one of: ${KIND_CHOICES.join(', ')}.`);
  });
  return { kinds: [...new Set(kinds)], areNamed: true };
}

interface JobListing {
  readonly page: ListPage<JobSummary>;
  /** The kinds that the key has permission for. */
  readonly kinds: readonly JobKind[];
}

/**
 * Lists jobs of these kinds merged by creation time, newest first. A cursor of the service belongs to the list of one kind;
 * that of several kinds is our own. Kinds without permission are skipped with a note, unless the user named them.
 * @throws Failure of category usage for a cursor of another list; of the service, also without permission for any kind
 */
export async function listJobs(
  client: Pick<Client, 'jobs'>,
  { kinds, areNamed }: KindChoice,
  request: ListRequest,
  { signal, terminal }: Pick<Context, 'signal' | 'terminal'>,
): Promise<JobListing> {
  const mark = request.cursor === undefined || kinds.length === 1 ? null : readMark(request.cursor);
  const start = mark === null ? {} : { created_before: new Date(mark.atMs + 1).toISOString() };
  const filters = { ...request.filters, ...start } as JobFilters; // the options come from the parameters of the same operation
  const range = mark === null ? request : { limit: request.limit + mark.shown.length, cursor: undefined };
  const read = (kind: JobKind) =>
    readPages(range, (page) => client.jobs.list(kind, { ...filters, ...page }, { signal }));
  const answers = await Promise.all(
    kinds.map(async (kind) => ({ kind, list: await (areNamed ? read(kind) : refusalOr(read(kind))) })),
  );
  const lists = answers.flatMap(({ list }) => (list instanceof Failure ? [] : [list]));
  const refused = answers.flatMap(({ kind, list }) => (list instanceof Failure ? [{ kind, list }] : []));
  if (refused[0] !== undefined && lists.length === 0) throw refused[0].list;
  if (refused.length > 0) {
    terminal.note(`Skipped, since the key has no permission: ${refused.map(({ kind }) => kind).join(', ')}`);
  }
  const permitted = kinds.filter((kind) => !refused.some((each) => each.kind === kind));
  const [only] = lists;
  const page = kinds.length === 1 && only !== undefined ? only : mergeLists(lists, mark, request.limit);
  return { page, kinds: permitted };
}

/** The list, or the failure of a key without permission for the kind. */
async function refusalOr<List>(reading: Promise<List>): Promise<List | Failure> {
  try {
    return await reading;
  } catch (error) {
    if (isNotPermitted(error)) return error;
    throw error;
  }
}

/**
 * The end of a page of several kinds, at the time of its last job. A service may state times in whole seconds, so other jobs of
 * that time may follow.
 */
interface PageMark {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** Ids of the jobs of that time that were shown. */
  readonly shown: readonly string[];
}

const PageMarkSchema = v.object({ atMs: v.pipe(v.number(), v.safeInteger()), shown: v.array(v.string()) });

/** @throws Failure of category usage for the cursor of a list of one kind, and for any other text */
function readMark(cursor: string): PageMark {
  try {
    return v.parse(PageMarkSchema, JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
  } catch {
    throw invalidCallFailure(
      `invalid --cursor "${cursor}": expected the next_cursor of a list of several kinds`,
      'If it is of the list of one kind, name that with --kind.',
    );
  }
}

/** @param before the end of the page before */
function mergeLists(
  lists: readonly ListPage<JobSummary>[],
  before: PageMark | null,
  limit: number,
): ListPage<JobSummary> {
  const all = lists
    .flatMap(({ data }) => data)
    .filter(({ id }) => before?.shown.includes(id) !== true)
    .sort(newestFirst);
  const data = all.slice(0, limit);
  const atMs = Date.parse(data.at(-1)?.created_at ?? '');
  const more = all.length > limit || lists.some((list) => list.has_more);
  const shown = data.filter((job) => Date.parse(job.created_at) === atMs).map(({ id }) => id);
  const mark: PageMark = { atMs, shown: before?.atMs === atMs ? [...before.shown, ...shown] : shown };
  // A hosted service that states no times gives no place to continue from.
  const canContinue = more && !Number.isNaN(atMs);
  const cursor = canContinue ? Buffer.from(JSON.stringify(mark)).toString('base64url') : null;
  return { object: 'list', data, has_more: more, next_cursor: cursor };
}

function newestFirst(left: JobSummary, right: JobSummary): number {
  const apart = Date.parse(right.created_at) - Date.parse(left.created_at);
  // The id decides between jobs of the same millisecond, and if a hosted service omits the time.
  return Number.isNaN(apart) || apart === 0 ? (left.id < right.id ? 1 : -1) : apart;
}

export { jobFields };

/** A job of a list, with the input that this machine has recorded. */
interface ListedJob extends JobSummary {
  /** The input as its command named it; null for jobs of other machines. */
  readonly input: string | null;
}

export function listedJobFields(): readonly string[] {
  return [...jobSummaryFields(), 'input'];
}

/** Jobs as lists return them. */
export const LISTED_JOBS: RecordForm<ListedJob> = {
  plural: 'jobs',
  idOf: (job) => job.id,
  columns: [
    { head: 'JOB', field: 'id' },
    { head: { title: 'INPUT', wraps: 20 }, field: 'input' },
    { head: { title: 'KIND', drops: 3 }, field: 'object' },
    { head: { title: 'STATUS', status: true }, field: 'status' },
    { head: { title: 'DONE', drops: 1 }, field: 'progress', text: (job) => `${job.progress} %` },
    { head: { title: 'CREATED', drops: 2 }, field: 'created_at' },
  ],
};

/** Single jobs. */
export const JOBS: RecordForm<Job> = {
  plural: 'jobs',
  idOf: (job) => job.id,
  columns: [
    { head: 'JOB', field: 'id' },
    { head: { title: 'KIND', drops: 3 }, field: 'object' },
    { head: { title: 'STATUS', status: true }, field: 'status', text: statusOf },
    { head: { title: 'DONE', drops: 1 }, field: 'progress', text: (job) => `${job.progress} %` },
    { head: { title: 'EXPIRES', drops: 2 }, field: 'expires_at', text: expiryOf },
    { head: { title: 'ERROR', wraps: 20 }, field: 'error', text: (job) => job.error?.message ?? '-' },
  ],
};

function statusOf(job: Job): string {
  return job.status === 'processing' && job.stage !== null ? `${job.status} (${job.stage})` : job.status;
}

/** When the results expire. */
function expiryOf(job: Job, nowMs: number): string {
  if (job.expires_at === null) return '-';
  return Date.parse(job.expires_at) <= nowMs ? 'expired' : formatRelative(job.expires_at, nowMs);
}
