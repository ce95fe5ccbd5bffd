import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { buildDeb } from '../../release/deb.ts';
import { findLicenseFaults, formatLicense, installedVersion } from '../../release/license.ts';
import { PLATFORMS } from '../../release/table.ts';
import { makeFolder } from '../support/make-folder.ts';

const project = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const OWN = readFileSync(project('LICENSE'), 'utf8');

it('the license file of archives names the version of sherpa-onnx in the lock file', () => {
  const lock = JSON.parse(readFileSync(project('package-lock.json'), 'utf8'));
  const { version } = lock.packages['node_modules/sherpa-onnx-node'];
  expect(installedVersion(project('node_modules'), 'sherpa-onnx-node')).toBe(version);
  const text = formatLicense(OWN, version);
  expect(text.endsWith(OWN)).toBe(true);
  expect(findLicenseFaults(text, version)).toEqual([]);
  expect(findLicenseFaults(text, '0.0.0')).toHaveLength(2);
});

it('the Debian package installs the license file of its archive as its copyright', () => {
  const work = makeFolder();
  const license = formatLicense(OWN, '1.2.3');
  put(join(work, 'vloc/vloc'), 'program');
  put(join(work, 'vloc/LICENSE'), license);
  for (const name of ['completions/vloc.bash', 'completions/_vloc', 'completions/vloc.fish', 'man/vloc.1'])
    put(join(work, 'vloc/lib', name), name);
  put(join(work, 'vloc/lib/CHANGELOG.md'), 'changes');
  const archive = join(work, 'vloc.tar.gz');
  execFileSync('tar', ['-czf', archive, '-C', work, 'vloc']);
  const platform = PLATFORMS.find(({ deb }) => deb !== undefined);
  if (platform === undefined) throw new Error('no platform has a Debian package');
  const file = JSON.parse(readFileSync(project('package.json'), 'utf8'));
  const deb = buildDeb({ platform, file, repository: null, archive, out: work, epoch: 0 });
  execFileSync('dpkg-deb', ['-x', deb, join(work, 'unpacked')]);
  expect(readFileSync(join(work, 'unpacked/usr/share/doc/vloc/copyright'), 'utf8')).toBe(license);
});

it('the step of the Containerfile writes a license file with the sources of the installed version', () => {
  const prefix = makeFolder();
  const installed = join(prefix, 'lib/node_modules/vloc');
  put(join(installed, 'LICENSE'), OWN);
  put(join(installed, 'node_modules/sherpa-onnx-node/package.json'), JSON.stringify({ version: '1.2.3' }));
  const steps = readFileSync(project('Containerfile'), 'utf8').split(/^(?=[A-Z]+ )/m);
  const step = steps.find(
    (each) => each.startsWith('RUN ') && each.includes('/usr/share/doc/vloc/copyright'),
  );
  if (step === undefined) throw new Error('no step writes the license file');
  const script = step.slice('RUN '.length).replaceAll('/usr/share/doc/vloc', join(prefix, 'doc'));
  execFileSync('sh', ['-ec', script], { env: { ...process.env, npm_config_prefix: prefix } });
  const text = readFileSync(join(prefix, 'doc/copyright'), 'utf8');
  expect(text.endsWith(OWN)).toBe(true);
  expect(findLicenseFaults(text, '1.2.3')).toEqual([]);
});

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
