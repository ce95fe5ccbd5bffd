import type { Reply } from './scripted-server.ts';

/**
 * Sends bytes as storage does: Range and If-Range by RFC 9110.
 * @param breakAfter drops the connection after so many bytes of each answer
 */
export function serveBytes(bytes: Buffer, etag: string, breakAfter = Number.POSITIVE_INFINITY): Reply {
  return (seen, response) => {
    const asked = /^bytes=(\d+)-$/.exec(seen.headers.range ?? '')?.[1];
    const condition = seen.headers['if-range'];
    const from =
      asked !== undefined && (condition === undefined || condition === etag) ? Number(asked) : null;
    if (from !== null && from >= bytes.length) {
      response.writeHead(416, { 'content-range': `bytes */${bytes.length}` });
      response.end();
      return;
    }
    const body = bytes.subarray(from ?? 0);
    const range = { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` };
    response.writeHead(from === null ? 200 : 206, {
      etag,
      'accept-ranges': 'bytes',
      'content-length': body.length,
      ...(from === null ? {} : range),
    });
    if (body.length <= breakAfter) response.end(body);
    else response.write(body.subarray(0, breakAfter), () => response.socket?.destroySoon());
  };
}
