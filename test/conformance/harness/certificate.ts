/**
 * Creates a certificate for this machine that the test process trusts: services call callbacks and sources only over
 * https.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import type { Certificate } from '../webhooks.ts';

const run = promisify(execFile);

/** Creates one for 127.0.0.1 with openssl. Only this process trusts it. */
export async function makeCertificate(): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-tls-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    const kind = [
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ];
    const names = ['-subj', '/CN=conformance', '-addext', 'subjectAltName=IP:127.0.0.1'];
    await run('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', cert]);
    const made = { key: await readFile(key), cert: await readFile(cert) };
    setDefaultCACertificates([...getCACertificates('default'), made.cert.toString()]);
    return made;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
