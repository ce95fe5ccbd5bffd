/** The four signature headers, well formed or refused. Source: specification, "Authentication" 1. */
import type { IncomingHttpHeaders } from 'node:http';
import { authHeaderNames } from '../../protocol/headers.ts';
import { LIMITS } from '../../protocol/limits.ts';

export interface AuthHeaders {
  readonly key: string;
  /** Unix seconds as sent. */
  readonly timestamp: string;
  readonly nonce: string;
  readonly signature: string;
}

const { min, max } = LIMITS.nonceLength;

const FORMS = {
  // spec: open — visible ASCII that fits a line; ours are shorter.
  key: { pattern: /^[\x21-\x7e]{1,128}$/, detail: 'the identifier of the key is missing or not well formed' },
  timestamp: { pattern: /^\d{10}$/, detail: 'must be Unix time in seconds, ten digits' },
  nonce: {
    pattern: new RegExp(`^[A-Za-z0-9_-]{${min},${max}}$`),
    detail: `must be ${min} to ${max} characters of base64url`,
  },
  signature: { pattern: /^[0-9a-f]{64}$/, detail: 'must be 64 lower-case hexadecimal digits' },
} as const satisfies Record<keyof AuthHeaders, { pattern: RegExp; detail: string }>;

export type AuthHeaderReader = (
  headers: IncomingHttpHeaders,
) => { ok: true; value: AuthHeaders } | { ok: false; header: string; detail: string };

/** Makes a reader for a prefix of header names; it reports the first header at fault. */
export function createAuthHeaderReader(prefix: string): AuthHeaderReader {
  const names = authHeaderNames(prefix);
  return (headers) => {
    const text = (name: string) => {
      const value = headers[name];
      return typeof value === 'string' ? value : '';
    };
    const value: AuthHeaders = {
      key: text(names.key),
      timestamp: text(names.timestamp),
      nonce: text(names.nonce),
      signature: text(names.signature),
    };
    for (const part of ['key', 'timestamp', 'nonce', 'signature'] as const) {
      const { pattern, detail } = FORMS[part];
      if (!pattern.test(value[part])) return { ok: false, header: names[part], detail };
    }
    return { ok: true, value };
  };
}
