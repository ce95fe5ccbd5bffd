/** Jobs of several kinds as one list. */
import type { Client, JobFilters, JobSummary, ListPage } from '../client/index.ts';
import { JOB_KIND_NAMES, type JobKind } from '../protocol/kind-names.ts';
import { kindOfPath } from '../protocol/operations.ts';
import type { OptionSpec } from './command.ts';
import type { ListRequest } from './list-options.ts';
import { readPages } from './pages.ts';
import { usageFailure } from './usage-failure.ts';

export const KIND_OPTION = {
  type: 'list',
  value: 'kinds',
  help: `only these kinds: ${JOB_KIND_NAMES.join(', ')}`,
} as const satisfies OptionSpec;

/**
 * The kinds that --kind names, by name or path; all five without it.
 * @throws Failure of category usage for an unknown one
 */
export function readKinds(written: readonly string[]): readonly JobKind[] {
  if (written.length === 0) return JOB_KIND_NAMES;
  const kinds = written.map((text) => {
    const kind = JOB_KIND_NAMES.find((name) => name === text) ?? kindOfPath(text);
    if (kind !== null) return kind;
    throw usageFailure(`there is no kind of job named "${text}"`, `Choose of ${JOB_KIND_NAMES.join(', ')}.`);
  });
  return [...new Set(kinds)];
}

/**
 * Lists jobs of these kinds merged by when they were created, the newest first. A cursor belongs to one list of the
 * service, so there is one only where a single kind is asked for.
 * @throws Failure of category usage for a cursor with several kinds
 */
export async function listJobs(
  client: Pick<Client, 'jobs'>,
  kinds: readonly JobKind[],
  request: ListRequest,
  signal: AbortSignal,
): Promise<ListPage<JobSummary>> {
  if (request.cursor !== undefined && kinds.length > 1) {
    throw usageFailure(
      '--cursor goes on with the list of one kind',
      'Name it with --kind, or use --limit or --all for several.',
    );
  }
  const filters = request.filters as JobFilters; // the options were made from the parameters of this very operation
  const lists = await Promise.all(
    kinds.map((kind) =>
      readPages(request, (page) => client.jobs.list(kind, { ...filters, ...page }, { signal })),
    ),
  );
  const [only] = lists;
  if (lists.length === 1 && only !== undefined) return only;
  const all = lists.flatMap(({ data }) => data).sort(newestFirst);
  const more = all.length > request.limit || lists.some((list) => list.has_more);
  return { object: 'list', data: all.slice(0, request.limit), has_more: more, next_cursor: null };
}

function newestFirst(left: JobSummary, right: JobSummary): number {
  const apart = Date.parse(right.created_at) - Date.parse(left.created_at);
  // Jobs of one millisecond keep an order, so that two runs show the same; a hosted service may leave the time out.
  return Number.isNaN(apart) || apart === 0 ? (left.id < right.id ? 1 : -1) : apart;
}
