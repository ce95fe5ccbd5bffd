/**
 * A service whose storage costs as little as possible with Node: bytes are received over plain sockets, counted and
 * discarded, or sent repeatedly from one block. `node:http` would be slower than curl, so every client would look
 * equally fast.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createPlainServer, type Server, type Socket } from 'node:net';

const NOW = '2026-01-01T00:00:00.000Z';
const LATER = '2036-01-01T00:00:00.000Z';
const MIB = 1024 ** 2;

/** Sent repeatedly. One write of it costs almost nothing compared with copying it. */
const BLOCK = randomBytes(MIB);
/** The client refuses a download that does not begin like a video. Source: ISO 14496-12, `ftyp`. */
const FIRST_BLOCK = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isomiso2', 'latin1'), BLOCK], MIB);

/** Bytes that were received and announced. */
let stored = 0;

/** Returns the hash of this many MiB from the storage, in lower-case hex. */
function hashOf(mebibytes: number): string {
  const hash = createHash('sha256');
  for (let sent = 0; sent < mebibytes; sent += 1) hash.update(sent === 0 ? FIRST_BLOCK : BLOCK);
  return hash.digest('hex');
}

/** Handles `PUT /object` and `GET /object/MEBIBYTES`, one request after another on each connection. */
function converse(socket: Socket): void {
  let head = '';
  let missing = 0;
  let announced = 0;
  const confirm = () => {
    stored += announced;
    socket.write('HTTP/1.1 200 OK\r\netag: "of-the-bench"\r\ncontent-length: 0\r\n\r\n');
  };
  const take = (bytes: number) => {
    missing -= bytes;
    if (missing < 0) socket.destroy(new Error('more bytes than were announced'));
    else if (missing === 0) confirm();
  };
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    if (missing > 0) return take(chunk.length);
    head += chunk.toString('latin1');
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const rest = head.length - end - 4;
    const [, mebibytes] = /^GET \/object\/(\d+) /.exec(head) ?? [];
    missing = Number(/\r\ncontent-length: (\d+)/i.exec(head.slice(0, end))?.[1] ?? 0);
    announced = missing;
    head = '';
    if (mebibytes !== undefined) handOut(socket, Number(mebibytes));
    else take(rest);
  });
}

function handOut(socket: Socket, mebibytes: number): void {
  const length = mebibytes * MIB;
  socket.write(`HTTP/1.1 200 OK\r\netag: "of-the-bench"\r\ncontent-length: ${length}\r\n\r\n`);
  let left = mebibytes;
  const pump = () => {
    for (let room = true; room && left > 0; left -= 1)
      room = socket.write(left === mebibytes ? FIRST_BLOCK : BLOCK);
    if (left > 0) socket.once('drain', pump);
  };
  pump();
}

const storage = createPlainServer({ noDelay: true }, converse);
const hashes = new Map<number, string>();

/** `loc_512_hashed` is a finished job with a video of 512 MiB and a hash; `loc_512_plain` has no hash. */
function readJob(id: string) {
  const [, mebibytes = '0', manner] = id.split('_');
  const count = Number(mebibytes);
  const sha256 = manner === 'hashed' ? (hashes.get(count) ?? hashOf(count)) : undefined;
  if (sha256 !== undefined) hashes.set(count, sha256);
  const url = `http://127.0.0.1:${portOf(storage)}/object/${count}`;
  const video = { url, expires_at: LATER, content_type: 'video/mp4', size_bytes: count * MIB, sha256 };
  const times = { created_at: NOW, updated_at: NOW };
  const result = { video, duration_seconds: 1 };
  return { id, object: 'auto_localization', status: 'succeeded', progress: 100, result, ...times };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_bench' });
  response.end(JSON.stringify(body));
}

const api = createServer((request, response) => {
  const { method, url = '' } = request;
  const upload = {
    id: 'upl_bench',
    object: 'upload',
    purpose: 'source_video',
    created_at: NOW,
    updated_at: NOW,
  };
  const target = { url: `http://127.0.0.1:${portOf(storage)}/object`, headers: {}, expires_at: LATER };
  request.resume().on('end', () => {
    if (url === '/v1/uploads')
      answer(response, 201, { ...upload, status: 'waiting_for_upload', upload_request: target });
    else if (url.startsWith('/v1/uploads/')) answer(response, 200, { ...upload, status: 'ready' });
    else if (method === 'POST') answer(response, 202, readJob('loc_1_plain'));
    else if (url.includes('/loc_')) answer(response, 200, readJob(url.split('/').at(-1) ?? ''));
    else answer(response, 200, { data: [], has_more: false, next_cursor: null });
  });
});

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port; // it listens on TCP
}

storage.listen(0, '127.0.0.1', () => {
  api.listen(0, '127.0.0.1', () => process.send?.({ api: portOf(api), storage: portOf(storage) }));
});
/** Answers with the bytes stored so far. */
process.on('message', () => process.send?.(stored));
process.on('disconnect', () => process.exit());
