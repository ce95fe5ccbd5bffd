/**
 * Signed URLs: anyone who has one may do one thing with one object until it expires. Source: contract, "Uploads"
 * (direct-upload address), "Jobs" (assets).
 */
import { createHmac } from 'node:crypto';
import { equalInConstantTime } from '../../protocol/constant-time.ts';
import { PROBLEM_CONTENT_TYPE } from '../../protocol/problem.ts';
import type { Exchange, ServiceResponse } from '../http/exchange.ts';
import { ASSETS_PATH, OBJECTS_PATH } from '../http/router.ts';
import type { ReservedUpload } from './storage.ts';

/** The permission of a signed URL. The declared type and size of an upload are part of the signature. */
interface LinkClaims {
  readonly method: 'GET' | 'PUT';
  /** Path of the object below the origin. */
  readonly path: string;
  /** ms since 1970. */
  readonly expiresAt: number;
  readonly contentType?: string;
  readonly sizeBytes?: number;
}

export interface LinkSigner {
  /** Returns path and query of the URL, below the origin. */
  sign(permission: LinkClaims): string;
  /** Returns true if `sign` created the query for exactly this permission. Does not check whether it has expired. */
  verify(permission: LinkClaims, query: ReadonlyMap<string, string>): boolean;
}

const EXPIRES = 'expires';
const SIGNATURE = 'signature';

/** Creates a signer. All processes of one state folder use the same secret. */
export function createLinkSigner(secret: Buffer): LinkSigner {
  const seal = ({ method, path, contentType, sizeBytes, expiresAt }: LinkClaims) =>
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

/** The permission in the direct-upload URL of an upload. */
export function uploadPermission(upload: ReservedUpload): LinkClaims {
  return {
    method: 'PUT',
    path: `${OBJECTS_PATH}/${upload.id}`,
    contentType: upload.content_type,
    sizeBytes: upload.size_bytes,
    expiresAt: upload.expires_at,
  };
}

/** The permission in the download URL of an asset. */
export function assetPermission(jobId: string, name: string, expiresAt: number): LinkClaims {
  return { method: 'GET', path: `${ASSETS_PATH}/${jobId}/${name}`, expiresAt };
}

const LINK_PROBLEMS = {
  LINK_NOT_VALID: { status: 403, title: 'This address does not permit this' },
  LINK_EXPIRED: { status: 410, title: 'This address has expired' },
  CONTENT_ENCODED: { status: 415, title: 'The bytes must be sent as they are' },
} as const;

/**
 * Refuses a signed URL. Its error codes are not part of the interface, because signed URLs are not operations of it. So
 * the body has no error page: RFC 9457, "about:blank".
 */
export function refuseLink(
  code: keyof typeof LINK_PROBLEMS,
  detail: string,
  exchange: Exchange,
): ServiceResponse {
  const { status, title } = LINK_PROBLEMS[code];
  return {
    status,
    headers: { 'Content-Type': PROBLEM_CONTENT_TYPE },
    body: JSON.stringify({
      type: 'about:blank',
      title,
      status,
      detail,
      instance: exchange.path,
      code,
      request_id: exchange.id,
      retryable: false,
    }),
  };
}
