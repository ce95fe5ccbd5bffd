/** Jobs of several kinds as one list, and how jobs are shown. */

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
 * Lists jobs of these kinds merged by creation time, newest first. A cursor belongs to one list of the
 * service, so it exists for a single kind only. Kinds without permission are skipped with a note, unless the user
 * named them.
 * @throws Failure of category usage for a cursor with several kinds; of the service, also without permission for any kind
 */
export async function listJobs(
  client: Pick<Client, 'jobs'>,
  { kinds, areNamed }: KindChoice,
  request: ListRequest,
  { signal, terminal }: Pick<Context, 'signal' | 'terminal'>,
): Promise<JobListing> {
  if (request.cursor !== undefined && kinds.length > 1) {
    throw invalidCallFailure(
      '--cursor continues the list of one kind',
      'Name it with --kind, or use --limit or --all for several.',
    );
  }
  const filters = request.filters as JobFilters; // the options come from the parameters of the same operation
  const read = (kind: JobKind) =>
    readPages(request, (page) => client.jobs.list(kind, { ...filters, ...page }, { signal }));
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
  return { page: mergeLists(lists, kinds.length, request.limit), kinds: permitted };
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

/** @param asked number of kinds in the request: only for one the cursor can be used */
function mergeLists(
  lists: readonly ListPage<JobSummary>[],
  asked: number,
  limit: number,
): ListPage<JobSummary> {
  const [only] = lists;
  if (asked === 1 && only !== undefined) return only;
  const all = lists.flatMap(({ data }) => data).sort(newestFirst);
  const more = all.length > limit || lists.some((list) => list.has_more);
  return { object: 'list', data: all.slice(0, limit), has_more: more, next_cursor: null };
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
