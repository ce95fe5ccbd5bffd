/** The request line of a signed call. */

import { Failure } from '../../errors/failure.ts';
import {
  canonicalTarget,
  encodeComponent,
  formatQuery,
  parseQuery,
  TargetError,
} from '../../protocol/canonical.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';
import type { QueryValue } from '../call.ts';
import type { BaseUrl } from './base-url.ts';

export interface Target {
  /** In canonical form, from the version on. Source: specification, "Authentication" 5. */
  readonly signed: string;
  /** The same behind the path of the gateway. */
  readonly sent: string;
}

/** Runs work on a path; one that has no canonical form becomes a Failure (`usage`). */
function onPath<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    const message = `the path "${path}" cannot be sent: ${error.message}`;
    const advice = 'Write it as in the documentation, for example /credits.';
    throw new Failure({ category: 'usage', code: 'PATH_INVALID', message, advice }, { cause: error });
  }
}

/**
 * Always in canonical form, so that a service which signs the raw target agrees as well.
 * @throws Failure (`usage`) for a path or query that has no canonical form
 */
export function resolveTarget(
  base: BaseUrl,
  path: string,
  query: Readonly<Record<string, QueryValue>> = {},
): Target {
  const signed = onPath(path, () => canonicalTarget(withQuery(withVersion(path), query)));
  return { signed, sent: base.gateway + signed };
}

function withVersion(path: string): string {
  if (/^[a-z][a-z\d+.-]*:/i.test(path)) throw new TargetError('it is a whole address, not a path');
  const rooted = path.startsWith('/') ? path : `/${path}`;
  return rooted === VERSION_PREFIX || rooted.startsWith(`${VERSION_PREFIX}/`)
    ? rooted
    : `${VERSION_PREFIX}${rooted}`;
}

function withQuery(path: string, query: Readonly<Record<string, QueryValue>>): string {
  const [bare = '', given = ''] = splitOnce(path, '?');
  const pairs = parseQuery(given);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) pairs.set(name, String(value));
  }
  return bare + formatQuery(pairs);
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * A path from segments that come from outside; each is encoded, so that none can leave its place.
 * @throws Failure (`usage`) for an empty segment and for text that is not Unicode
 */
export function joinPath(...segments: string[]): string {
  return onPath(segments.join('/'), () => segments.map((segment) => `/${encodeSegment(segment)}`).join(''));
}

function encodeSegment(segment: string): string {
  if (segment === '') throw new TargetError('a part of it is empty');
  return encodeComponent(segment);
}
