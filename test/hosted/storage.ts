/** Where bytes go and come from: no API, unsigned, with errors in a form of its own. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Desk } from './service.ts';
import { lapseOf } from './shapes.ts';

/** Refuses as storage does, not as the API does. */
function refuse({ has }: Desk, response: ServerResponse, status: number, code: string) {
  if (!has('storage-error-xml')) return void response.writeHead(status).end();
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${code}.</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml' }).end(xml);
}

/** Takes the bytes of an upload. */
export function takeBytes(desk: Desk, id: string, body: Buffer, response: ServerResponse) {
  const { has } = desk;
  const upload = desk.uploads.get(decodeURIComponent(id));
  if (upload?.status !== 'waiting_for_upload' || body.length !== upload.request.size_bytes)
    return refuse(desk, response, 403, 'AccessDenied');
  const md5 = createHash('md5').update(body).digest('hex');
  upload.md5 = md5;
  upload.bytes = body;
  const etag = has('etag-none') ? {} : { etag: has('etag-weak') ? `W/"${md5}"` : `"${md5}"` };
  if (has('storage-200-xml')) {
    response.writeHead(200, { ...etag, 'content-type': 'application/xml' }).end('<PutObjectResult/>');
  } else {
    response.writeHead(204, etag).end();
  }
}

/** Sends the file of a result, whole or from the start of the range. */
export function giveBytes(desk: Desk, request: IncomingMessage, response: ServerResponse) {
  const { has, links } = desk;
  const url = new URL(request.url ?? '', desk.origin());
  const [place = '', id = '', name = ''] = url.pathname.split('/').slice(1);
  const job = desk.jobs.get(decodeURIComponent(id));
  const file = job?.files[name];
  if (job === undefined || file === undefined) return refuse(desk, response, 404, 'NoSuchKey');
  const isOld = url.searchParams.get('token') !== `canary-${links.round}`;
  if (isOld || desk.now() >= lapseOf(desk, job)) return refuse(desk, response, 403, 'AccessDenied');
  if (place !== 'mirror' && has('download-redirect')) {
    const location = `/mirror/${id}/${name}${url.search}`;
    return void response.writeHead(302, { location }).end();
  }
  const md5 = createHash('md5').update(file.bytes).digest('hex');
  const etag = has('download-etag-weak') ? `W/"${md5}"` : `"${md5}"`;
  const type = has('download-type-generic') ? 'binary/octet-stream' : file.type;
  const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
  const isSame = (request.headers['if-range'] ?? etag) === etag && !has('download-etag-weak');
  const from = range !== null && isSame ? Number(range[1]) : 0;
  if (from >= file.bytes.length) return refuse(desk, response, 416, 'InvalidRange');
  const bytes = file.bytes.subarray(from);
  const length = has('download-chunked') ? {} : { 'content-length': bytes.length };
  const total = file.bytes.length;
  const part = from > 0 ? { 'content-range': `bytes ${from}-${total - 1}/${total}` } : {};
  response.writeHead(from > 0 ? 206 : 200, { etag, 'content-type': type, ...length, ...part });
  response.end(bytes, () => {
    job.downloads[name] = (job.downloads[name] ?? 0) + 1;
  });
}
