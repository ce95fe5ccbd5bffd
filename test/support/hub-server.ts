/**
 * Imitates Hugging Face on this machine, from a folder with one folder for each repository:
 *   GET /tiny/NAME/resolve/COMMIT/PATH            302 to another origin, which has the bytes and answers ranges
 *   GET /api/models/tiny/NAME/tree/COMMIT         the files, the larger ones with their SHA-256
 *   GET /NAME/PATH                                the bytes themselves, as a plain server has them
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export const COMMIT = 'c'.repeat(40);

/** Larger files have their SHA-256 in the list, as on the hub. */
const LISTED_BYTES = 1000;
const CHUNK = 65_536;

/** What goes wrong, for all files or for one. */
export interface HubFaults {
  /** The end of the path of the only file that is concerned. */
  readonly only?: string;
  /** The byte in the middle is wrong. */
  readonly flip?: true;
  /** This status comes instead, `times` times for each file. */
  readonly status?: number;
  readonly times?: number;
  /** Milliseconds before each 64 KiB. */
  readonly slow?: number;
  /** Range is ignored. */
  readonly norange?: true;
  /** 401 without a token. */
  readonly gated?: true;
}

export interface HubRequest {
  readonly path: string;
  readonly range: string | null;
  readonly authorization: string | null;
  /** Whether it came to the origin of the bytes. */
  readonly isForBytes: boolean;
}

export interface Hub {
  readonly url: string;
  readonly log: HubRequest[];
  /** Replaces the faults and forgets which happened. */
  readonly setFaults: (faults: HubFaults) => void;
  readonly close: () => Promise<void>;
}

export async function startHub(folder: string): Promise<Hub> {
  const log: HubRequest[] = [];
  let faults: HubFaults = {};
  let happened: Map<string, number> = new Map();
  const isDue = (path: string, times: number) => {
    const count = happened.get(path) ?? 0;
    happened.set(path, count + 1);
    return count < times;
  };

  async function sendBytes(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const fault = faults.only === undefined || path.endsWith(faults.only) ? faults : {};
    if (fault.status !== undefined && isDue(path, fault.times ?? Number.POSITIVE_INFINITY)) {
      response.writeHead(fault.status, { 'content-type': 'application/json' }).end('{"error":"as asked"}');
      return;
    }
    const bytes = Buffer.from(readFileSync(path));
    if (fault.flip === true) bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    const asked = fault.norange === true ? null : /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
    const start = Number(asked?.[1] ?? 0);
    if (start > 0 && start >= bytes.length) {
      response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
      return;
    }
    const range =
      asked === null ? {} : { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` };
    response.writeHead(asked === null ? 200 : 206, { 'content-length': bytes.length - start, ...range });
    for (let at = start; at < bytes.length && !response.destroyed; at += CHUNK) {
      if (fault.slow !== undefined) await setTimeout(fault.slow);
      await new Promise((resolve) => response.write(bytes.subarray(at, at + CHUNK), resolve));
    }
    response.end();
  }

  function listFiles(name: string): object[] {
    const root = join(folder, name);
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const bytes = readFileSync(path);
        const oid = createHash('sha256').update(bytes).digest('hex');
        const lfs = bytes.length > LISTED_BYTES ? { lfs: { oid, size: bytes.length } } : {};
        return { type: 'file', path: relative(root, path), size: bytes.length, oid: '0'.repeat(40), ...lfs };
      });
  }

  const serve = (isForBytes: boolean, elsewhere: () => string) =>
    createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://hub');
      const { authorization = null, range = null } = request.headers;
      log.push({ path: pathname, range, authorization, isForBytes });
      const parts = pathname.split('/').slice(1).map(decodeURIComponent);
      if (parts[0] === 'api') {
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(listFiles(parts[3] ?? '')));
        return;
      }
      const isResolve = parts[2] === 'resolve';
      const path = join(folder, ...(isResolve ? [parts[1] ?? '', ...parts.slice(4)] : parts));
      if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) response.writeHead(404).end();
      else if (isResolve && faults.gated === true && authorization === null) response.writeHead(401).end();
      else if (isResolve) {
        response.writeHead(302, { location: `${elsewhere()}/${relative(folder, path)}` }).end();
      } else void sendBytes(request, response, path);
    });
  const storage = serve(true, () => '');
  const port = (server: typeof storage) => (server.address() as AddressInfo).port; // it listens on a port
  // Another origin on the same machine.
  const hub = serve(false, () => `http://localhost:${port(storage)}`);
  for (const server of [storage, hub]) {
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  }
  return {
    url: `http://127.0.0.1:${port(hub)}`,
    log,
    setFaults: (next) => {
      faults = next;
      happened = new Map();
    },
    close: async () => {
      for (const server of [hub, storage]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}
