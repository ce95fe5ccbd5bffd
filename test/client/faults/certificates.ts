/** Certificates that this process trusts. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

/** A certificate for one name, as `IP:127.0.0.1` or `DNS:example.org`, in files of this folder. */
export function makeCertificate(folder: string, name: string): Certificate {
  const file = name.replace(/\W/g, '-');
  const [key, cert] = [join(folder, `${file}.key`), join(folder, `${file}.pem`)];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', `/CN=${file}`, '-addext', `subjectAltName=${name}`];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

/** Adds trusted certificates; returns a function that removes them. */
export function trust(...certificates: readonly Certificate[]): () => void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, ...certificates.map(({ cert }) => cert.toString('utf8'))]);
  return () => setDefaultCACertificates(before);
}
