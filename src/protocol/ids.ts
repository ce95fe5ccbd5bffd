/**
 * Resource ids: a prefix for the kind of resource, `_`, and a ULID in lower case, so that ids sort by creation time.
 */
// spec: open — the form of ids is not specified, except for `req_` and `evt_`.
import { monotonicFactory } from 'ulid';
import { ID_PREFIXES, type IdSubject } from './id-prefixes.ts';

/**
 * Creates a generator of ids that never decrease within one process.
 * @param random uniform in [0, 1); must be cryptographic if ids must not be guessable
 */
export function createIdMaker(random: () => number): (subject: IdSubject, nowMs: number) => string {
  const next = monotonicFactory(random);
  return (subject, nowMs) => `${ID_PREFIXES[subject]}_${next(nowMs).toLowerCase()}`;
}

const ID = /^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$/;

/** Returns true if this service could have created the id for the subject. */
export function isIdOf(subject: IdSubject, id: string): boolean {
  return ID.test(id) && id.startsWith(`${ID_PREFIXES[subject]}_`);
}
