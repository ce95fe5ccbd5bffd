/** A service that takes uploads and throws the bytes away: it answers just enough for a detached job. */
import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';

const NOW = '2026-01-01T00:00:00.000Z';
const LATER = '2036-01-01T00:00:00.000Z';

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_bench' });
  response.end(JSON.stringify(body));
}

const server = createServer((request, response) => {
  const { method, url = '' } = request;
  const origin = `http://${request.headers.host}`;
  const upload = {
    id: 'upl_bench',
    object: 'upload',
    purpose: 'source_video',
    created_at: NOW,
    updated_at: NOW,
  };
  if (method === 'PUT') {
    const md5 = createHash('md5');
    request.on('data', (chunk: Buffer) => md5.update(chunk));
    request.on('end', () => response.writeHead(200, { etag: `"${md5.digest('hex')}"` }).end());
    return;
  }
  request.resume();
  request.on('end', () => {
    if (url === '/v1/uploads') {
      const target = { method: 'PUT', url: `${origin}/object`, headers: {}, expires_at: LATER };
      answer(response, 201, { ...upload, status: 'waiting_for_upload', upload_request: target });
    } else if (url.startsWith('/v1/uploads/')) {
      answer(response, 200, { ...upload, status: 'ready', upload_request: null });
    } else {
      const job = {
        id: 'loc_bench',
        object: 'auto_localization',
        status: 'queued',
        progress: 0,
        client_reference: null,
      };
      answer(response, 202, {
        ...job,
        created_at: NOW,
        updated_at: NOW,
        detail_url: '/v1/auto-localizations/loc_bench',
      });
    }
  });
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.send?.(address.port);
});
