/** What tells one version of a stored file from another. Source: RFC 9110, 8.8 and 13.1.5. */

export interface Validator {
  readonly header: 'etag' | 'last-modified';
  readonly value: string;
}

type Headers = Readonly<Record<string, string>>;

/** A file may change twice within the second that a date can tell. Source: RFC 9110, 8.8.2.2. */
const DATE_STEP_MS = 1000;

/** The validator of an answer that may be used with Range; null without one. Weak ETags (`W/`) may not. */
export function readValidator({ etag, 'last-modified': modified, date }: Headers): Validator | null {
  if (etag !== undefined) return /^"[^"]*"$/.test(etag) ? { header: 'etag', value: etag } : null;
  if (modified === undefined) return null;
  const ageMs = Date.parse(date ?? '') - Date.parse(modified);
  return ageMs >= DATE_STEP_MS ? { header: 'last-modified', value: modified } : null;
}

/** Whether the answer is of the same version; null when it does not say. */
export function isSameVersion({ header, value }: Validator, headers: Headers): boolean | null {
  const told = headers[header];
  return told === undefined ? null : told === value;
}
