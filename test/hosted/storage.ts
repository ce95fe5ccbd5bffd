/** Where bytes go and come from: no API, unsigned. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Has } from './forms.ts';
import { FILES } from './media.ts';
import type { StoredUpload } from './shapes.ts';

/** Takes the bytes of an upload. */
export function takeBytes(
  has: Has,
  upload: StoredUpload | undefined,
  body: Buffer,
  response: ServerResponse,
) {
  if (upload === undefined)
    return void response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
  const md5 = createHash('md5').update(body).digest('hex');
  upload.md5 = md5;
  const etag = has('etag-none') ? {} : { etag: has('etag-weak') ? `W/"${md5}"` : `"${md5}"` };
  if (has('storage-200-xml')) {
    response.writeHead(200, { ...etag, 'content-type': 'application/xml' }).end('<PutObjectResult/>');
  } else {
    response.writeHead(204, etag).end();
  }
}

/** Hands out the file of a result. */
export function giveBytes(has: Has, request: IncomingMessage, response: ServerResponse) {
  const url = request.url ?? '';
  const path = url.split('?')[0] ?? '';
  const bytes = FILES[path.split('/').at(-1) ?? ''];
  if (bytes === undefined) return void response.writeHead(404).end();
  if (!path.startsWith('/mirror/') && has('download-redirect')) {
    return void response.writeHead(302, { location: url.replace('/cdn/', '/mirror/') }).end();
  }
  const etag = has('download-etag-weak') ? { etag: 'W/"1"' } : { etag: '"1"' };
  const length = has('download-chunked') ? {} : { 'content-length': bytes.length };
  response.writeHead(200, { ...etag, ...length, 'content-type': 'application/octet-stream' });
  response.end(bytes);
}
