/** The job operations, one set for all five kinds. Source: specification, "Operation table". */
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { JobRequestInput } from '../../protocol/request-types.ts';
import type { JobStatus } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import type { ClientContext } from '../context.ts';
import { readJob, readJobSummary } from '../read/job.ts';
import { createPages, type Pages } from '../read/pages.ts';
import { createStatusReporter, readList } from '../read/record.ts';
import type { Job, JobSummary } from '../read/resources.ts';
import { joinPath } from '../transport/request.ts';
import type { Send } from '../transport/send.ts';
import { findJob, parseReference } from './find-job.ts';
import type { WaitOptions } from './wait.ts';

/** Times are RFC 3339 with a zone; `limit` is 1 to 50. Source: specification, "List query parameters". */
export interface ListFilters {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
}

export interface JobFilters extends ListFilters {
  readonly status?: JobStatus | undefined;
  readonly client_reference?: string | undefined;
}

export interface Jobs {
  /** Fields that this version does not know are passed unchanged. */
  create<K extends JobKind>(
    kind: K,
    request: JobRequestInput<K> & Record<string, unknown>,
    options?: CallOptions,
  ): Promise<Job<K>>;
  get<K extends JobKind>(kind: K, id: string, options?: CallOptions): Promise<Job<K>>;
  /** By bare id, `kind/id` or detail_url; an address of another origin is refused. */
  find(reference: string, options?: CallOptions): Promise<Job>;
  cancel<K extends JobKind>(kind: K, id: string, options?: CallOptions): Promise<Job<K>>;
  /** Newest first: one page to await, all pages with `for await`. */
  list(kind: JobKind, filters?: JobFilters, options?: CallOptions): Pages<JobSummary>;
  /** Until the job is terminal, whatever it ends as; a failed poll is not a failed job. */
  wait<K extends JobKind>(kind: K, id: string, options?: WaitOptions): Promise<Job<K>>;
  /** A `wait` for many jobs, which share one list request a kind. */
  waitTogether(): WaitForJob;
}

/** Waits for a job of any kind. */
export type WaitForJob = (kind: JobKind, id: string, options?: WaitOptions) => Promise<Job>;

/** Every operation throws Failure, or the reason of the signal when that is aborted. */
export function createJobs(context: ClientContext, send: Send): Jobs {
  const onUnknown = createStatusReporter(context.emit);
  const collection = (kind: JobKind) => joinPath(KINDS[kind].path);
  const single = (kind: JobKind, id: string) => joinPath(KINDS[kind].path, id);

  async function get<K extends JobKind>(kind: K, id: string, options: CallOptions = {}): Promise<Job<K>> {
    const { body, requestId } = await send({ ...options, method: 'GET', path: single(kind, id) });
    return readJob(kind, body, requestId, onUnknown);
  }

  const list: Jobs['list'] = (kind, filters = {}, options = {}) =>
    createPages(async (cursor = filters.cursor) => {
      const query = { ...filters, cursor };
      const { body, requestId } = await send({ ...options, method: 'GET', path: collection(kind), query });
      return readList(body, requestId, (item, origin) => readJobSummary(kind, item, origin, onUnknown));
    });

  return {
    get,
    list,
    async create(kind, request, options = {}) {
      const call = { ...options, method: 'POST', path: collection(kind), body: request } as const;
      const { body, requestId } = await send(call);
      return readJob(kind, body, requestId, onUnknown);
    },
    async find(reference, options = {}) {
      const { kind, id } = parseReference(context.base, reference);
      return kind === null ? findJob(get, id, options) : get(kind, id, options);
    },
    async cancel(kind, id, options = {}) {
      const { body, requestId } = await send({ ...options, method: 'DELETE', path: single(kind, id) });
      return readJob(kind, body, requestId, onUnknown);
    },
    async wait<K extends JobKind>(kind: K, id: string, options: WaitOptions = {}) {
      // Most commands wait for nothing, and load none of it.
      const { waitForJob } = await import('./wait.ts');
      const job = await waitForJob(context, (limits) => get(kind, id, limits), { kind, id }, options);
      return job as Job<K>; // `get` reads every job as the kind that was asked for
    },
    waitTogether() {
      let room: Promise<WaitForJob> | undefined;
      return async (...job) => {
        room ??= import('./shared-poller.ts').then(({ createSharedPoller }) =>
          createSharedPoller(context, { get, list }),
        );
        return (await room)(...job);
      };
    },
  };
}
