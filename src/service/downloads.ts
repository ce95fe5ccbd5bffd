/** Sends results to anyone who has their signed URL. Source: contract, "Jobs" (assets, downloads). */
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../base/system-error.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import type { ServiceContext } from './context.ts';
import type { Exchange, ServiceResponse } from './http/exchange.ts';
import { assetFileName, type StoredAsset, type StoredResult } from './jobs/results.ts';
import { assetPermission, refuseLink } from './storage/links.ts';

interface Row {
  readonly kind: JobKind;
  readonly folder: string | null;
  readonly result: string | null;
}

interface OpenAsset {
  readonly handle: FileHandle;
  readonly facts: StoredAsset;
  readonly fileName: string;
}

/** Answers GET and HEAD of an asset: the whole file or one range; 403 for a changed URL, 410 for an expired one. */
export async function serveAsset(
  context: ServiceContext,
  exchange: Exchange,
  asked: { jobId: string; name: string; query: ReadonlyMap<string, string> },
): Promise<ServiceResponse> {
  const { method = '' } = exchange.request;
  const expiresAt = Number(asked.query.get('expires') ?? Number.NaN);
  const permission = assetPermission(asked.jobId, asked.name, expiresAt);
  // A service with other storage returns no such addresses.
  const isHere = context.storage.sharesFolder && ['GET', 'HEAD'].includes(method);
  if (!isHere || !context.links.verify(permission, asked.query)) {
    return refuseLink('LINK_NOT_VALID', 'the address is not valid for this file, or was changed', exchange);
  }
  const asset = expiresAt > exchange.receivedAt ? await openAsset(context, asked.jobId, asked.name) : null;
  if (asset === null) {
    return refuseLink(
      'LINK_EXPIRED',
      'results are kept for 24 hours; run the job again to get a new one',
      exchange,
    );
  }
  return answerAsset(exchange, asset);
}

async function openAsset(context: ServiceContext, jobId: string, name: string): Promise<OpenAsset | null> {
  const row = await context.store.get<Row>('SELECT kind, folder, result FROM jobs WHERE id = ?', jobId);
  if (row === undefined || row.folder === null || row.result === null) return null;
  const stored: StoredResult = JSON.parse(row.result);
  const facts = stored.assets[name];
  if (facts === undefined) return null;
  try {
    const handle = await open(join(context.folders.assets, row.folder, name), 'r');
    return { handle, facts, fileName: assetFileName(row.kind, name, jobId) };
  } catch (error) {
    // Another process may have removed the file since the record was read.
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function answerAsset(
  { request }: Exchange,
  { handle, facts, fileName }: OpenAsset,
): Promise<ServiceResponse> {
  const size = facts.size_bytes;
  const etag = `"${facts.sha256}"`;
  const headers = {
    'Content-Type': facts.content_type,
    'Content-Disposition': `attachment; filename="${fileName}"`,
    'X-Content-Type-Options': 'nosniff',
    'Accept-Ranges': 'bytes',
    ETag: etag,
  };
  if (request.headers['if-none-match'] === etag) {
    await handle.close();
    return { status: 304, headers, body: null };
  }
  const ifRange = request.headers['if-range'];
  const unchanged = ifRange === undefined || ifRange === etag;
  const part = readRange(unchanged ? request.headers.range : undefined, size);
  switch (part.type) {
    case 'unsatisfiable':
      await handle.close();
      return { status: 416, headers: { ...headers, 'Content-Range': `bytes */${size}` }, body: '' };
    case 'whole':
      return { status: 200, headers, body: { handle, start: 0, length: size } };
    case 'part': {
      const { start, length } = part;
      const range = `bytes ${start}-${start + length - 1}/${size}`;
      return {
        status: 206,
        headers: { ...headers, 'Content-Range': range },
        body: { handle, start, length },
      };
    }
  }
}

/** The part of a file that a request asks for. Source: RFC 9110, "Range Requests". */
type Part =
  | { readonly type: 'whole' }
  | { readonly type: 'part'; readonly start: number; readonly length: number }
  | { readonly type: 'unsatisfiable' };

const SINGLE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/** Parses a Range header. Several ranges, other units and invalid ones return the whole file, as the RFC allows. */
export function readRange(header: string | undefined, size: number): Part {
  const match = SINGLE_RANGE.exec(header ?? '');
  if (match === null) return { type: 'whole' };
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return { type: 'whole' };
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? { type: 'unsatisfiable' } : { type: 'part', start: size - length, length };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return { type: 'whole' };
  if (start >= size) return { type: 'unsatisfiable' };
  return { type: 'part', start, length: end - start + 1 };
}
