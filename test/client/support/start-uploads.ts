import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientOptions, SendFileOptions } from '../../../src/client/index.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { startHarness } from './harness.ts';
import { json, type Reply, type ScriptedServer, type Seen } from './scripted-server.ts';

export const VIDEO: SendFileOptions = { purpose: 'source_video', contentType: 'video/mp4' };
export const MIB = 1024 ** 2;

export async function makeFile(size: number): Promise<{ path: string; bytes: Buffer; sha256: string }> {
  const bytes = randomBytes(size);
  const path = join(makeFolder(), 'lesson 1.mp4');
  await writeFile(path, bytes);
  return { path, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

export async function startUploads(options: Partial<ClientOptions> = {}) {
  const harness = await startHarness(options);
  return { ...harness, service: serveUploads(harness.server) };
}

/** A service with storage, as far as one upload needs it: reserves, takes bytes, completes, validates. */
interface UploadService {
  /** Everything that went to storage, whole. */
  readonly stored: Map<string, Buffer>;
  readonly reservations: Seen[];
  readonly completions: Seen[];
  /** Answers to the next PUTs; then the bytes are stored. */
  readonly putScript: Reply[];
  /** Shown at the next GETs of the upload before `ready`. */
  readonly statuses: string[];
  /** Changes the reservation before it is sent. */
  shape: (upload: Record<string, unknown>, number: number) => Record<string, unknown>;
  etag: (bytes: Buffer) => string | null;
  completion: Reply | null;
}

function serveUploads(server: ScriptedServer): UploadService {
  const service: UploadService = {
    stored: new Map(),
    reservations: [],
    completions: [],
    putScript: [],
    statuses: [],
    shape: (upload) => upload,
    etag: (bytes) => `"${createHash('md5').update(bytes).digest('hex')}"`,
    completion: null,
  };
  const upload = (id: string, status: string) => ({ id, object: 'upload', status, purpose: 'source_video' });
  const reserve: Reply = (seen, response, request) => {
    service.reservations.push(seen);
    const number = service.reservations.length;
    const url = `${server.origin}/storage/${number}?signature=canary-${number}`;
    const target = { method: 'PUT', url, headers: { 'content-type': 'video/mp4' } };
    const reserved = { ...upload(`upl_${number}`, 'waiting_for_upload'), upload_request: target };
    json(201, service.shape(reserved, number))(seen, response, request);
  };
  const store: Reply = (seen, response) => {
    service.stored.set(seen.target.split('?')[0] ?? '', seen.body);
    const etag = service.etag(seen.body);
    response.writeHead(200, etag === null ? {} : { etag });
    response.end();
  };
  const complete: Reply = (seen, response, request) => {
    service.completions.push(seen);
    const scripted = service.completion ?? json(202, upload(idIn(seen.target), 'validating'));
    service.completion = null;
    scripted(seen, response, request);
  };
  const show: Reply = (seen, response, request) => {
    const status = service.statuses.shift() ?? 'ready';
    const error = status === 'failed' ? { code: 'MEDIA_CORRUPT', message: 'it does not decode' } : null;
    json(200, { ...upload(idIn(seen.target), status), error })(seen, response, request);
  };
  server.route = (method, target) => {
    if (method === 'PUT') return service.putScript.shift() ?? store;
    if (target === '/v1/uploads') return reserve;
    return target.endsWith('/completions') ? complete : show;
  };
  return service;
}

function idIn(target: string): string {
  return target.split('/')[3] ?? '';
}
