/** Resource ids: a prefix that names the kind, `_`, and a ULID in lower case, so that they sort by creation time. */
// spec: open — the form of ids is not shown but for `req_` and `evt_`.
import { monotonicFactory } from 'ulid';
import { ID_PREFIXES, type IdSubject } from './id-prefixes.ts';

/**
 * Makes a maker of ids that never go backwards within one process.
 * @param random uniform in [0, 1); must be cryptographic for ids that a stranger could guess
 */
export function createIdMaker(random: () => number): (subject: IdSubject, nowMs: number) => string {
  const next = monotonicFactory(random);
  return (subject, nowMs) => `${ID_PREFIXES[subject]}_${next(nowMs).toLowerCase()}`;
}

const ID = /^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$/;

/** True when the service itself could have made this id for the subject. */
export function isIdOf(subject: IdSubject, id: string): boolean {
  return ID.test(id) && id.startsWith(`${ID_PREFIXES[subject]}_`);
}
