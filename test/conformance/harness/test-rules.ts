import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Certificate, makeCertificate, trust } from '../../support/certificates.ts';
import { freshAccount } from '../../support/postgres.ts';
import { accessS3, S3_OWNER, type S3Access } from '../../support/s3.ts';
import { type MediaHost, startMediaHost } from '../media/host.ts';
import { findVideoMaker } from '../media/make.ts';
import type { Rule } from '../rule.ts';
import { runRule } from '../run-rule.ts';
import { type Receiver, startReceiver } from '../webhooks.ts';
import type { ControlledRun } from './control.ts';
import { startEmbedded } from './embedded.ts';

const SAMPLE = new URL('../../fixtures/two-seconds.mp4', import.meta.url);

/** With a database. A failure names the seed of the choice of a node for each request. */
const NODES = { count: 3, seed: Number(process.env.VLOC_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32)) };

/** The servers of `npm run test:cluster`: null if they are not installed, and undefined in other runs. */
const DATABASE: string | null | undefined = inject('postgres');
const S3: string | null | undefined = inject('s3');

/** Services call callbacks and sources only over https: this process trusts the certificate. */
async function trusted(): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-tls-'));
  const certificate = makeCertificate(folder, 'IP:127.0.0.1');
  await rm(folder, { recursive: true });
  trust(certificate);
  return certificate;
}

/**
 * Runs rules against an embedded service and its control interface: one test per rule, and none is skipped. In
 * `npm run test:cluster` it has several nodes, and each request goes to one of them at random; their account is in PostgreSQL, and
 * uploads and results are in a bucket of an S3 server, if one is installed.
 * @param bucket its name, of this file alone
 */
export function testRules(rules: readonly Rule[], bucket: string): void {
  let receiver: Receiver;
  let host: MediaHost;
  let harness: ControlledRun;
  let s3: S3Access | null = null;

  beforeAll(async () => {
    if (DATABASE === null) throw new Error('PostgreSQL is not installed');
    if (typeof S3 === 'string') {
      s3 = accessS3(S3);
      await s3.createBucket(bucket);
    }
    const bytes = await readFile(SAMPLE);
    const certificate = await trusted();
    receiver = await startReceiver({ host: '127.0.0.1', port: 0, publicUrl: null, certificate });
    host = await startMediaHost(certificate, bytes);
    harness = await startEmbedded({
      media: { purpose: 'source_video', name: 'sample.mp4', contentType: 'video/mp4', bytes },
      mediaUrl: host.url,
      ffmpeg: await findVideoMaker(),
      receiver,
      ...(DATABASE === undefined ? {} : { database: freshAccount({ url: DATABASE }), nodes: NODES }),
      ...(s3 === null ? {} : { storage: s3.address(bucket), env: S3_OWNER }),
    });
  });

  afterAll(async () => {
    await Promise.all([harness.close(), receiver.close(), host.close()]);
  });

  const sections = Map.groupBy(rules, ({ id }: Rule) => id.split('.', 1)[0] ?? '');

  describe.each([...sections.keys()])('%s', (name) => {
    it.each(sections.get(name) ?? [])('$id: $title', async (rule) => {
      const outcome = await runRule(rule, harness.service);
      const seed = DATABASE === undefined ? '' : `, with VLOC_TEST_SEED=${NODES.seed}`;
      expect(outcome, `${outcome.status}${seed}`).toEqual({ status: 'passed' });
    });
  });
}
