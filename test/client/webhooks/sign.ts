/** Webhooks signed by nothing that the code under test uses. */
import { execFileSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../support/make-folder.ts';

export interface Signed {
  readonly body: Buffer;
  readonly headers: Record<string, string>;
}

export interface SignOptions {
  readonly secret: string;
  /** Unix seconds. */
  readonly at: number;
  readonly id?: string;
  readonly joint?: '\n' | '.';
  readonly prefix?: string;
}

export const EVENT_ID = 'evt_01k9x2m4n6p8q0r2s4t6v8w0y2';

/** Signs a body with node:crypto, written again from the specification. */
export function sign(body: string, options: SignOptions): Signed {
  const bytes = Buffer.from(body);
  const digest = createHash('sha256').update(bytes).digest('hex');
  const { secret, at, id = EVENT_ID, joint = '\n', prefix = 'X-Service' } = options;
  const mac = createHmac('sha256', secret).update(`${at}${joint}${id}${joint}${digest}`).digest('hex');
  return {
    body: bytes,
    headers: {
      [`${prefix}-Webhook-Timestamp`]: String(at),
      [`${prefix}-Webhook-Id`]: id,
      [`${prefix}-Webhook-Signature`]: mac,
    },
  };
}

/** The signature as OpenSSL makes it. */
export function signWithOpenssl(body: string, secret: string, at: number, id: string): string {
  const folder = makeFolder();
  const [bodyFile, inputFile] = [join(folder, 'body'), join(folder, 'input')];
  writeFileSync(bodyFile, body);
  const digest = openssl('dgst', '-sha256', bodyFile);
  writeFileSync(inputFile, `${at}\n${id}\n${digest}`);
  return openssl('dgst', '-sha256', '-hmac', secret, inputFile);
}

function openssl(...words: string[]): string {
  const line = execFileSync('openssl', words, { encoding: 'utf8' });
  return line.trim().split('= ').at(-1) ?? '';
}

/** An event as the contract writes it. */
export function eventBody(id: string, status = 'succeeded', kind = 'dubbing'): string {
  return JSON.stringify({
    id: EVENT_ID,
    object: 'event',
    type: `${kind}.${status}`,
    created_at: '2026-11-20T18:04:05.000Z',
    data: { id, object: kind, status, client_reference: 'léson 1', detail_url: `/v1/dubbings/${id}` },
  });
}
