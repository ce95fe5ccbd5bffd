/** What all scenarios share: a real service, faulty proxies to it, and a foreign host that must not receive any secret. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openScene } from '../../service/harness/scene.ts';
import { createSmallEngines, mediaOf } from '../../service/harness/small-engines.ts';
import { makeCertificate, trust } from '../../support/certificates.ts';
import { startFaultyProxy } from './faulty-proxy.ts';
import { createScenario, type Scenario } from './scenario.ts';

export interface FaultEnvironment {
  /** Creates a scenario with its own key. `https` has a certificate for 127.0.0.1. */
  createScenario(scheme: 'http' | 'https', host: string): Promise<Scenario>;
  /** Headers of all requests that reached the foreign host. */
  readonly foreign: IncomingHttpHeaders[];
  close(): Promise<void>;
}

/** Starts everything; the caller closes it. */
export async function createFaultEnvironment(): Promise<FaultEnvironment> {
  // Accepts every file as a video of one minute.
  const engines = { ...createSmallEngines(), inspect: async () => mediaOf(60) };
  const root = await mkdtemp(join(tmpdir(), 'vloc-faults-'));
  const { service, clock, callerFor } = await openScene({ stateDir: join(root, 'service'), engines });
  const foreignHost = await startForeignHost();
  const certificates = {
    own: makeCertificate(root, 'IP:127.0.0.1'),
    other: makeCertificate(root, 'DNS:other.example'),
  };
  const untrust = trust(certificates.own, certificates.other);
  const common = { service: new URL(service.url), foreignOrigin: foreignHost.origin, now: clock.now };
  const proxies = {
    http: await startFaultyProxy(common),
    https: await startFaultyProxy({ ...common, certificate: certificates.own }),
  };
  let scenarios = 0;
  return {
    foreign: foreignHost.seen,
    async createScenario(scheme, host) {
      scenarios += 1;
      const { key, secret } = await service.issueKey();
      const folder = join(root, `scenario-${scenarios}`);
      return createScenario({
        proxy: proxies[scheme],
        baseUrl: `${proxies[scheme].origin.replace('127.0.0.1', host)}/v1`,
        folder,
        key,
        secret,
        caller: callerFor({ key, secret }),
        clock,
        engines,
        certificates,
      });
    },
    async close() {
      untrust();
      await Promise.all([proxies.http.close(), proxies.https.close(), foreignHost.close(), service.close()]);
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function startForeignHost() {
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
