/** Names that stay the same from run to run. */
import { hash } from 'node:crypto';
import { stripAddress } from '../../journal/without-secrets.ts';
import type { JobKind } from '../../protocol/kind-names.ts';

/**
 * The same in every run of the same command. Results of another name are another item: one may keep a video with the
 * original sound and one without it side by side.
 * @param name of the input below its root; see `JobInput`
 * @param template of the names of results; null for the usual one
 */
export function itemKey(
  kind: JobKind,
  name: string,
  targetLanguage: string | null,
  template: string | null = null,
): string {
  return JSON.stringify([kind, name, targetLanguage, ...(template === null ? [] : [template])]);
}

/** The name of the input that a key was made of; null for what is no key. */
export function nameOfKey(key: string): string | null {
  try {
    const parts: unknown = JSON.parse(key);
    const name: unknown = Array.isArray(parts) ? parts[1] : null;
    return typeof name === 'string' ? name : null;
  } catch {
    return null;
  }
}

/** How storage services sign addresses, each time with other values: the parameter that holds the signature, and all that go with it. */
const SIGNED = [
  { by: /^x-(amz|goog)-signature$/i, parts: /^x-(amz|goog)-/i },
  { by: /^signature$/i, parts: /^(expires|signature|policy|key-pair-id|googleaccessid|awsaccesskeyid)$/i },
  { by: /^sig$/i, parts: /^(sig|se|sp|sr|st|sv|spr|sip|ske|skoid|sks|skt|sktid|skv)$/i },
];

/** 48 bits tell the queries of one address apart. */
const QUERY_DIGITS = 12;

/**
 * An address without what may be secret. A query that says which file is meant is kept as a digest; what only signs the
 * address is omitted, so that the same file signed again is the same input.
 */
export function addressName(address: string): string {
  const all = [...new URL(address).searchParams];
  const scheme = SIGNED.find(({ by }) => all.some(([name]) => by.test(name)));
  const pairs = scheme === undefined ? all : all.filter(([name]) => !scheme.parts.test(name));
  if (pairs.length === 0) return stripAddress(address);
  const digest = hash('sha256', JSON.stringify(pairs)).slice(0, QUERY_DIGITS);
  return `${stripAddress(address)}?${digest}`;
}
