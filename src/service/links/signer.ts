/**
 * Addresses that carry their own permission: whoever holds one may do one thing with one object until it lapses.
 * Source: contract, "Uploads" (direct-upload address), "Jobs" (assets).
 */
import { createHmac } from 'node:crypto';
import { equalInConstantTime } from '../../protocol/constant-time.ts';

/** What an address permits. The parts of an upload that the sender must keep to are bound as well. */
export interface Permission {
  readonly method: 'GET' | 'PUT';
  /** Path of the object below the origin. */
  readonly path: string;
  /** ms since 1970. */
  readonly expiresAt: number;
  readonly contentType?: string;
  readonly sizeBytes?: number;
}

export interface LinkSigner {
  /** Path and query of the address, below the origin. */
  sign(permission: Permission): string;
  /** True when the query was made by `sign` for exactly this permission; it does not look at the clock. */
  verify(permission: Permission, query: ReadonlyMap<string, string>): boolean;
}

const EXPIRES = 'expires';
const SIGNATURE = 'signature';

/** Makes a signer; all processes of one state folder use the same secret. */
export function createLinkSigner(secret: Buffer): LinkSigner {
  const seal = ({ method, path, contentType, sizeBytes, expiresAt }: Permission) =>
    createHmac('sha256', secret)
      .update([method, path, contentType ?? '', sizeBytes ?? '', expiresAt].join('\n'))
      .digest('hex');
  return {
    sign: (permission) =>
      `${permission.path}?${EXPIRES}=${permission.expiresAt}&${SIGNATURE}=${seal(permission)}`,
    verify: (permission, query) =>
      query.size === 2 &&
      query.get(EXPIRES) === String(permission.expiresAt) &&
      equalInConstantTime(query.get(SIGNATURE) ?? '', seal(permission)),
  };
}
