/** How users name a job (a bare id, `kind/id`, or the address of the job), and how its kind is found. Source: contract, "Identifiers". */
import { Failure, isApiAnswer, usageFailure } from '../../base/failure.ts';
import type { ErrorCode } from '../../protocol/error-codes.ts';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import { kindOfPath, VERSION_PREFIX } from '../../protocol/operations.ts';
import type { CallOptions } from '../call.ts';
import type { Job } from '../read/resources.ts';
import type { BaseUrl } from '../transport/base-url.ts';

type GetJob = (kind: JobKind, id: string, options: CallOptions) => Promise<Job>;

/**
 * Finds a job of unknown kind: requests it as all five kinds concurrently, and aborts the rest once one answers.
 * @throws Failure: not found when every kind that the key may see answers so, else the first other failure, since that
 *   kind may have the job
 */
export async function findJob(get: GetJob, id: string, options: CallOptions): Promise<Job> {
  const found = new AbortController();
  const signals = options.signal === undefined ? [found.signal] : [options.signal, found.signal];
  const limits = { ...options, signal: AbortSignal.any(signals) };
  try {
    return await Promise.any(JOB_KIND_NAMES.map((kind) => get(kind, id, limits)));
  } catch (error) {
    options.signal?.throwIfAborted();
    throw mostTelling(error instanceof AggregateError ? error.errors : [error]);
  } finally {
    found.abort();
  }
}

/** A kind that the key may not see is reported only if there is no other answer. */
function mostTelling(errors: readonly unknown[]): unknown {
  const other = errors.find((error) => !isNotFound(error) && !isNotPermitted(error));
  return other ?? errors.find(isNotFound) ?? errors[0];
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
export function parseReference(base: BaseUrl, reference: string): JobReference {
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
