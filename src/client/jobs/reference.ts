/** How people name a job: a bare id, `kind/id`, or the address of the job. Source: contract, "Identifiers". */

import { Failure } from '../../errors/failure.ts';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import { kindOfPath, VERSION_PREFIX } from '../../protocol/operations.ts';
import type { BaseUrl } from '../transport/base-url.ts';

export interface JobReference {
  /** Null when only the id is known. */
  readonly kind: JobKind | null;
  readonly id: string;
}

function unreadable(reference: string, why: string): Failure {
  return new Failure({
    category: 'usage',
    code: 'REFERENCE_INVALID',
    message: `"${reference.slice(0, 200)}" names no job: ${why}`,
    advice: 'Give an id, a kind and an id such as dubbings/ID, or the detail_url of the job.',
  });
}

/** The kind by its path segment (`dubbings`) or its object name (`dubbing`). */
function kindNamed(name: string): JobKind | null {
  return JOB_KIND_NAMES.find((kind) => kind === name) ?? kindOfPath(name);
}

/** @throws Failure (`usage`) for what is none of the three forms, and for an address of another service */
export function parseReference(base: BaseUrl, reference: string): JobReference {
  const text = reference.trim();
  const path = text.includes('://') ? pathOfUrl(base, text) : text;
  const named = path.startsWith(`${VERSION_PREFIX}/`) ? path.slice(VERSION_PREFIX.length + 1) : path;
  const [first = '', second, ...rest] = named.split('/');
  if (first === '' || second === '' || rest.length > 0) throw unreadable(text, 'it is not complete');
  if (second === undefined) return { kind: null, id: decode(text, first) };
  const kind = kindNamed(first);
  if (kind === null) throw unreadable(text, `there is no kind of job named ${first}`);
  return { kind, id: decode(text, second) };
}

function pathOfUrl(base: BaseUrl, text: string): string {
  if (!URL.canParse(text)) throw unreadable(text, 'it is not an address');
  const url = new URL(text);
  if (url.origin !== base.origin || !url.pathname.startsWith(`${base.gateway}${VERSION_PREFIX}/`)) {
    throw unreadable(text, `it is not an address of ${base.origin}${base.gateway}${VERSION_PREFIX}`);
  }
  return url.pathname.slice(base.gateway.length);
}

function decode(reference: string, segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw unreadable(reference, 'a percent sign is not followed by an encoded character');
  }
}
