/** Creates signed requests as bytes before a round is timed. */
import { randomBytes } from 'node:crypto';
import { EMPTY_SHA256, sha256Hex, signRequest } from '../../src/protocol/signature.ts';

export interface Target {
  /** Host and port. */
  readonly host: string;
  readonly key: string;
  readonly secret: string;
}

export interface Unsigned {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** In canonical form. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** 128 bits. Source: contract, "Signing". */
const NONCE_BYTES = 16;

/** Returns one request as bytes, with a new nonce and, except for GET, a new Idempotency-Key. */
export function signedBytes(target: Target, { method, path, body }: Unsigned): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const bodySha256 = text === '' ? EMPTY_SHA256 : sha256Hex(text);
  const signature = signRequest(target.secret, { method, target: path, timestamp, nonce, bodySha256 });
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${target.host}`,
    'Accept: application/json',
    `X-Service-Key: ${target.key}`,
    `X-Service-Timestamp: ${timestamp}`,
    `X-Service-Nonce: ${nonce}`,
    `X-Service-Signature: ${signature}`,
  ];
  if (method !== 'GET') lines.push(`Idempotency-Key: ${randomBytes(NONCE_BYTES).toString('hex')}`);
  if (text !== '') lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`);
}
