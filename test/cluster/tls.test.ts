/** Nodes that reach their database and their bucket over TLS: with certificates of an authority that only the operator knows. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { assetsOf } from '../../src/client/index.ts';
import { Failure } from '../../src/service/index.ts';
import { asTemporary } from '../../src/service/store/database-failures.ts';
import { startScene } from '../service/harness/scene.ts';
import { videoOf } from '../service/harness/small-engines.ts';
import { type Authority, type Certificate, makeAuthority, trust } from '../support/certificates.ts';
import { findFreePort } from '../support/free-port.ts';
import { makeFolder } from '../support/make-folder.ts';
import { POSTGRES_PROGRAMS, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { HAS_S3, S3_OWNER } from '../support/s3.ts';
import { clientOf, server } from './harness/bucket-nodes.ts';

const NEEDS = POSTGRES_PROGRAMS === null || !HAS_S3;

let port: number;
let ours: Authority;
let others: Authority;
let database: PostgresServer;

const root = mkdtempSync(join(tmpdir(), 'vtls-'));
beforeAll(async () => {
  if (NEEDS) return;
  const [one, other] = [join(root, 'one'), join(root, 'other')];
  for (const folder of [one, other]) mkdirSync(folder);
  ours = makeAuthority(one);
  others = makeAuthority(other);
  port = await findFreePort();
  database = startPostgres({ tls: { port, ...ours.issue('DNS:localhost') } });
});
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
  if (NEEDS) return;
  database.stop();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port; // a TCP server has one
}

let accounts = 0;

/** The address of an account that does not exist yet. */
function address(settings: Readonly<Record<string, string>>, host = 'localhost'): string {
  accounts += 1;
  const words = Object.entries({ ...settings, schema: `tls_${accounts}` }).map((pair) => pair.join('='));
  return `postgres://vloc:secret@${host}:${port}/postgres?${words.join('&')}`;
}

/** What is in front of an S3 server to give it TLS: bytes and signatures pass unchanged. */
async function startFront(certificate: Certificate): Promise<number> {
  const front = createSecureServer(certificate, (asked, answer) => {
    const passed = request(
      server().s3.endpoint + asked.url,
      { method: asked.method, headers: asked.headers },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      },
    );
    asked.pipe(passed);
  });
  onTestFinished(() => void front.close());
  return listen(front);
}

/** The failure of a start; nothing may listen then, so there is no service. */
async function failureOf(
  start: Promise<unknown>,
): Promise<{ code: string; message: string; advice: string }> {
  const error = await start.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Failure)) throw error ?? new Error('it started');
  const { category, code, message, advice = '' } = error.facts;
  expect(category).toBe('configuration');
  expect(`${message} ${advice}`).not.toContain('secret');
  return { code, message, advice };
}

const startWith = async (url: string) => startScene({ stateDir: makeFolder(), database: url });

describe.skipIf(NEEDS)('a database over TLS (needs postgresql and swift: sh .ci/packages)', () => {
  it('is used if its certificate is of the named authority and for the named host', async () => {
    const { caller } = await startWith(address({ sslmode: 'verify-full', sslrootcert: ours.file }));
    expect((await caller.get('/v1/credits')).status).toBe(200);
  });

  it('is not used if another authority signed its certificate, or none is named', async () => {
    for (const settings of [{ sslrootcert: others.file }, {}]) {
      const failure = await failureOf(startWith(address({ sslmode: 'verify-full', ...settings })));
      expect(failure).toEqual({
        code: 'DATABASE_UNUSABLE',
        message: `the database localhost:${port}/postgres has a certificate that cannot be verified`,
        advice: expect.stringContaining('sslrootcert=FILE'),
      });
    }
  });

  it('is not used if its certificate is for another host', async () => {
    const settings = { sslmode: 'verify-full', sslrootcert: ours.file };
    const failure = await failureOf(startWith(address(settings, '127.0.0.1')));
    expect(failure).toMatchObject({
      code: 'DATABASE_UNUSABLE',
      message: `the database 127.0.0.1:${port}/postgres has a certificate for another host`,
    });
  });

  it('is not used if its certificate has expired', async () => {
    const expired = Promise.reject(Object.assign(new Error('it has'), { code: 'CERT_HAS_EXPIRED' }));
    expect(await asTemporary('db', expired).catch((error: unknown) => error)).toMatchObject({
      facts: { code: 'DATABASE_UNUSABLE', message: 'the database db has a certificate that has expired' },
    });
  });

  it('is not used if the file of the authority is missing', async () => {
    const settings = { sslmode: 'verify-full', sslrootcert: join(root, 'missing.pem') };
    expect(await failureOf(startWith(address(settings)))).toMatchObject({
      code: 'DATABASE_UNUSABLE',
      message: expect.stringContaining(`a file that cannot be read, ${join(root, 'missing.pem')}`),
      advice: expect.stringContaining('sslrootcert'),
    });
  });

  it('is not used without TLS if the server demands it', async () => {
    const failure = await failureOf(startWith(address({ sslmode: 'disable' })));
    expect(failure).toMatchObject({
      code: 'DATABASE_UNUSABLE',
      message: expect.stringContaining('refused the user'),
      advice: expect.stringContaining('sslmode=verify-full'),
    });
  });
});

describe.skipIf(NEEDS)('a bucket over TLS (needs postgresql and swift: sh .ci/packages)', () => {
  it('keeps uploads and results if its authority is trusted, at addresses that callers use', async () => {
    onTestFinished(trust(ours));
    await server().s3.createBucket('secure');
    const front = await startFront(ours.issue('DNS:localhost,IP:127.0.0.1'));
    const scene = await startScene({
      stateDir: makeFolder(),
      database: address({ sslmode: 'verify-full', sslrootcert: ours.file }),
      storage: `s3://secure?endpoint=${encodeURIComponent(`https://127.0.0.1:${front}`)}`,
      env: S3_OWNER,
    });
    const client = clientOf(scene);
    const video = join(root, 'talk.mp4');
    writeFileSync(video, videoOf(90));
    const { upload, sha256 } = await client.uploads.sendFile(video, {
      purpose: 'source_video',
      contentType: 'video/mp4',
    });
    const source = { type: 'upload', upload_id: upload.id } as const;
    const { id } = await client.jobs.create('auto_localization', { source, target_language: 'es' });
    const [asset] = assetsOf(await client.jobs.wait('auto_localization', id)).map((each) => each.asset);
    expect(asset?.url).toMatch(`https://127.0.0.1:${front}/secure/assets/`);
    if (asset === undefined) throw new Error('the job has no video');
    // The small engines give the video back as it was.
    expect((await client.download(asset, { to: join(root, 'talk.es.mp4') })).sha256).toBe(sha256);
    await client.close();
  });

  it('is not used if another authority signed its certificate', async () => {
    onTestFinished(trust(ours));
    await server().s3.createBucket('refused');
    const front = await startFront(others.issue('IP:127.0.0.1'));
    const started = startScene({
      stateDir: makeFolder(),
      database: address({ sslmode: 'verify-full', sslrootcert: ours.file }),
      storage: `s3://refused?endpoint=${encodeURIComponent(`https://127.0.0.1:${front}`)}`,
      env: S3_OWNER,
    });
    expect(await failureOf(started)).toMatchObject({
      code: 'STORAGE_UNUSABLE',
      message: expect.stringContaining('certificate that cannot be verified'),
      advice: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
    expect(await server().s3.list('refused')).toEqual([]);
  });
});
