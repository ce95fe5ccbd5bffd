/** What all cells share: a real service, lines to it that can go wrong, and a host that must not learn a thing. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createService } from '../../../src/service/index.ts';
import { createCaller, exchange, send } from '../../service/harness/caller.ts';
import { createMovingClock } from '../../service/harness/moving-clock.ts';
import { answerSparsely, currentProfile } from '../../service/harness/profiles.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { makeCertificate, trust } from './certificates.ts';
import { startLine } from './line.ts';
import { createStage, type Stage } from './stage.ts';

export interface Theatre {
  /** A cell's worth, with a key of its own. `https` shows a certificate for 127.0.0.1. */
  set(scheme: 'http' | 'https', host: string): Promise<Stage>;
  /** Headers of everything that reached the host which has no part in this. */
  readonly foreign: IncomingHttpHeaders[];
  close(): Promise<void>;
}

const MINUTE = {
  duration_seconds: 60,
  container: 'mp4',
  video: { codec: 'h264', width: 320, height: 180, frame_rate: 25 },
  audio: { codec: 'aac', sample_rate: 48_000, channels: 2 },
};

/** Starts everything; to be closed. */
export async function openTheatre(): Promise<Theatre> {
  const clock = createMovingClock();
  // They take every file for a video of a minute.
  const engines = { ...createSmallEngines(), inspect: async () => MINUTE };
  const root = await mkdtemp(join(tmpdir(), 'vloc-faults-'));
  const isSparse = currentProfile() === 'minimal';
  const service = await createService({
    stateDir: join(root, 'service'),
    ...{ clock, engines },
    ...(isSparse ? { faults: answerSparsely() } : {}),
  });
  const stranger = await startStranger();
  const certificates = {
    own: makeCertificate(root, 'IP:127.0.0.1'),
    other: makeCertificate(root, 'DNS:other.example'),
  };
  const distrust = trust(certificates.own, certificates.other);
  const common = { service: new URL(service.url), foreignOrigin: stranger.origin, now: clock.now };
  const lines = {
    http: await startLine(common),
    https: await startLine({ ...common, certificate: certificates.own }),
  };
  let cells = 0;
  return {
    foreign: stranger.seen,
    set(scheme, host) {
      cells += 1;
      const { key, secret } = service.issueKey();
      const caller = createCaller(service.url, { key, secret }, clock.now, isSparse ? exchange : send);
      const folder = join(root, `cell-${cells}`);
      return createStage({
        line: lines[scheme],
        baseUrl: `${lines[scheme].origin.replace('127.0.0.1', host)}/v1`,
        folder,
        key,
        secret,
        caller,
        clock,
        engines,
        certificates,
      });
    },
    async close() {
      distrust();
      await Promise.all([lines.http.close(), lines.https.close(), stranger.close(), service.close()]);
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function startStranger() {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    response.writeHead(404, { connection: 'close' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  const close = () => new Promise((resolve) => server.close(resolve));
  return { seen, origin: `http://127.0.0.1:${port}`, close };
}
