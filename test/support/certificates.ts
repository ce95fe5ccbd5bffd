/** Certificates of tests, and trust in them. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

/** The file of the certificate for a name, in the folder where it was made. */
export function fileOf(folder: string, name: string): string {
  return join(folder, `${name.replace(/\W/g, '-')}.pem`);
}

/** A certificate for one name, as `IP:127.0.0.1` or `DNS:example.org`, in files of this folder. */
export function makeCertificate(folder: string, name: string): Certificate {
  const file = name.replace(/\W/g, '-');
  const [key, cert] = [join(folder, `${file}.key`), fileOf(folder, name)];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', `/CN=${file}`, '-addext', `subjectAltName=${name}`];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

/** An authority of a test: its own certificate is in `file`. */
export interface Authority {
  readonly file: string;
  readonly cert: Buffer;
  /** Makes a certificate for one name, as above; `days` is negative for one that has expired. */
  issue(name: string, days?: number): Certificate;
}

/** An authority that signs certificates, in a folder of its own. */
export function makeAuthority(folder: string): Authority {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const { cert, key } = makeCertificate(folder, 'DNS:authority.example');
  writeFileSync(join(folder, 'ca.pem'), cert);
  writeFileSync(join(folder, 'ca.key'), key);
  return {
    file: join(folder, 'ca.pem'),
    cert,
    issue(name, days = 2) {
      writeFileSync(join(folder, 'name.cnf'), `subjectAltName=${name}\n`);
      const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
      openssl('req', ...curve, '-subj', '/CN=server', '-keyout', 'server.key', '-out', 'server.csr');
      const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'name.cnf'];
      openssl('x509', '-req', '-in', 'server.csr', ...signed, '-days', String(days), '-out', 'server.pem');
      return {
        key: readFileSync(join(folder, 'server.key')),
        cert: readFileSync(join(folder, 'server.pem')),
      };
    },
  };
}

/** Adds trusted certificates; returns a function that removes them. */
export function trust(...certificates: readonly Pick<Certificate, 'cert'>[]): () => void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, ...certificates.map(({ cert }) => cert.toString('utf8'))]);
  return () => setDefaultCACertificates(before);
}
