/** The job operations, one set for all five kinds. Source: specification, "Operation table". */
import { Failure, isApiAnswer, usageFailure } from '../../base/failure.ts';
import type { ErrorCode } from '../../protocol/error-codes.ts';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { kindOfPath, VERSION_PREFIX } from '../../protocol/operations.ts';
import type { JobRequestInput } from '../../protocol/request-types.ts';
import type { JobStatus } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import { readJob, readJobSummary } from '../read/job.ts';
import { createPages, createStatusReporter, type Pages, readList } from '../read/record.ts';
import type { Job, JobSummary } from '../read/resources.ts';
import type { ClientContext } from '../transport/context.ts';
import { type BaseUrl, joinPath } from '../transport/request.ts';
import type { Send } from '../transport/send.ts';
import { type WaitOptions, waitForJob } from './poll.ts';

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
  /**
   * Rejects if the key has no permission for a kind. The service is asked at most once, with a list, and not if it has listed
   * jobs of the kind before. Any answer but a definite refusal counts as permission: the create will tell.
   * @throws Failure (CAPABILITY_NOT_PERMITTED); the reason of the signal
   */
  requirePermission(kind: JobKind, options?: Pick<CallOptions, 'signal'>): Promise<void>;
  /** Until the job is terminal, whatever it ends as; a failed poll is not a failed job. */
  wait<K extends JobKind>(kind: K, id: string, options?: WaitOptions): Promise<Job<K>>;
  /** A `wait` for many jobs, which share one list request a kind. */
  waitTogether(): WaitForJob;
}

/** A slow list delays the first upload by no more, and the upload reports what is wrong with the service. */
const PERMISSION_MS = 10_000;

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

  /** By kind: whether the key has permission, as far as the service has been asked. */
  const permissions = new Map<JobKind, Promise<void>>();

  const list: Jobs['list'] = (kind, filters = {}, options = {}) =>
    createPages(async (cursor = filters.cursor) => {
      const query = { ...filters, cursor };
      const { body, requestId } = await send({ ...options, method: 'GET', path: collection(kind), query });
      permissions.set(kind, Promise.resolve());
      return readList(body, requestId, (item, origin) => readJobSummary(kind, item, origin, onUnknown));
    });

  async function askPermission(kind: JobKind, signal: AbortSignal | undefined): Promise<void> {
    try {
      await list(kind, { limit: 1 }, { signal, deadline: context.runtime.now() + PERMISSION_MS });
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Failure)) throw error;
      if (isNotPermitted(error))
        throw error.with({ message: `the key has no permission for the ${KINDS[kind].work}` });
    }
  }

  return {
    get,
    list,
    requirePermission(kind, { signal } = {}) {
      const asked = permissions.get(kind) ?? askPermission(kind, signal);
      permissions.set(kind, asked);
      asked.catch(() => permissions.delete(kind));
      return asked;
    },
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

type GetJob = (kind: JobKind, id: string, options: CallOptions) => Promise<Job>;

/**
 * Finds a job of unknown kind: requests it as all five kinds concurrently, and aborts the rest once one answers.
 * @throws Failure: not found when every kind answers so; not permitted when the others do, since the job may be of a kind that the
 *   key may not see; else the first other failure, since that kind may have the job
 */
async function findJob(get: GetJob, id: string, options: CallOptions): Promise<Job> {
  const found = new AbortController();
  const signals = options.signal === undefined ? [found.signal] : [options.signal, found.signal];
  const limits = { ...options, signal: AbortSignal.any(signals) };
  try {
    return await Promise.any(JOB_KIND_NAMES.map((kind) => get(kind, id, limits)));
  } catch (error) {
    options.signal?.throwIfAborted();
    // One for each kind, in their order.
    throw mostTelling(id, error instanceof AggregateError ? error.errors : [error]);
  } finally {
    found.abort();
  }
}

/** @param errors one for each kind, in the order of `JOB_KIND_NAMES` */
function mostTelling(id: string, errors: readonly unknown[]): unknown {
  const other = errors.find((error) => !isNotFound(error) && !isNotPermitted(error));
  const refused = errors.find(isNotPermitted);
  if (other !== undefined || refused === undefined) return other ?? errors[0];
  const kinds = JOB_KIND_NAMES.filter((_kind, at) => isNotPermitted(errors[at]));
  const message = `no job ${id} among those that the key may read; it may not read ${kinds.join(', ')}`;
  return refused.with({ message });
}

function isNotFound(error: unknown): boolean {
  return isApiAnswer(error, 404);
}

const NOT_PERMITTED: ErrorCode = 'CAPABILITY_NOT_PERMITTED';

/** Whether the service refused because the key is not for that kind of job. */
export function isNotPermitted(error: unknown): error is Failure {
  return error instanceof Failure && error.facts.code === NOT_PERMITTED;
}

interface JobReference {
  /** Null when only the id is known. */
  readonly kind: JobKind | null;
  readonly id: string;
}

function invalidJobIdFailure(reference: string, why: string): Failure {
  return usageFailure(
    'REFERENCE_INVALID',
    `"${reference.slice(0, 200)}" does not name a job: ${why}`,
    'Give an id, a kind and an id such as dubbings/ID, or the detail_url of the job.',
  );
}

/** The kind by its path segment (`dubbings`) or its object name (`dubbing`). */
function kindNamed(name: string): JobKind | null {
  return JOB_KIND_NAMES.find((kind) => kind === name) ?? kindOfPath(name);
}

/** @throws Failure (`usage`) for a text in none of the three forms, and for an address of another service */
function parseReference(base: BaseUrl, reference: string): JobReference {
  const text = reference.trim();
  const path = text.includes('://') ? pathOfUrl(base, text) : text;
  const named = path.startsWith(`${VERSION_PREFIX}/`) ? path.slice(VERSION_PREFIX.length + 1) : path;
  const [first = '', second, ...rest] = named.split('/');
  if (first === '' || second === '' || rest.length > 0) throw invalidJobIdFailure(text, 'it is not complete');
  if (second === undefined) return { kind: null, id: decode(text, first) };
  const kind = kindNamed(first);
  if (kind === null) throw invalidJobIdFailure(text, `there is no kind of job named ${first}`);
  return { kind, id: decode(text, second) };
}

function pathOfUrl(base: BaseUrl, text: string): string {
  if (!URL.canParse(text)) throw invalidJobIdFailure(text, 'it is not an address');
  const url = new URL(text);
  if (url.origin !== base.origin || !url.pathname.startsWith(`${base.gateway}${VERSION_PREFIX}/`)) {
    throw invalidJobIdFailure(text, `it is not an address of ${base.origin}${base.gateway}${VERSION_PREFIX}`);
  }
  return url.pathname.slice(base.gateway.length);
}

function decode(reference: string, segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidJobIdFailure(reference, 'a percent sign is not followed by an encoded character');
  }
}
