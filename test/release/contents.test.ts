import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findFaults } from '../../release/contents.ts';
import { formatLicense } from '../../release/license.ts';
import { PLATFORMS, type Platform, programName } from '../../release/table.ts';
import { makeFolder } from '../support/make-folder.ts';

/** An archive with everything in it, unpacked. */
async function makeArchive(platform: Platform): Promise<string> {
  const root = makeFolder();
  const onnx = `sherpa-onnx-${platform.os === 'win32' ? 'win' : platform.os}-${platform.cpu}`;
  const dist = ['vloc.cjs', 'separate-worker.js', 'silero_vad_v6.onnx', 'THIRD-PARTY-LICENSES.txt'];
  const modules = [
    `${onnx}/sherpa-onnx.node`,
    `${onnx}/LICENSE`,
    'sherpa-onnx-node/LICENSE',
    '@napi-rs/keyring-system/keyring.node',
    '@napi-rs/keyring-system/LICENSE',
    '@jitsi/rnnoise-wasm/dist/rnnoise.wasm',
    '@jitsi/rnnoise-wasm/LICENSE',
  ];
  const lib = [
    'launch.cjs',
    'installed-by',
    'package.json',
    'bin/vloc.js',
    'completions/vloc.bash',
    'man/vloc.1',
  ];
  const inLib = [
    ...lib,
    'node',
    ...dist.map((name) => `dist/${name}`),
    ...modules.map((name) => `node_modules/${name}`),
  ];
  for (const path of [
    programName(platform),
    'LICENSE',
    'LICENSE.node',
    ...inLib.map((name) => `lib/${name}`),
  ]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), 'content');
  }
  const manifest = JSON.stringify({ version: '1.2.3' });
  writeFileSync(join(root, 'lib/node_modules/sherpa-onnx-node/package.json'), manifest);
  writeFileSync(join(root, 'LICENSE'), formatLicense('MIT License', '1.2.3'));
  return root;
}

describe.each(PLATFORMS)('the archive for $name', (platform) => {
  it('has no faults if it is complete', async () => {
    expect(findFaults(platform, await makeArchive(platform))).toEqual([]);
  });

  it('must have all parts, the licenses of its packages, and no links, which could lead outside', async () => {
    const root = await makeArchive(platform);
    for (const path of ['man/vloc.1', 'node_modules/@jitsi/rnnoise-wasm/LICENSE', 'node_modules/@napi-rs']) {
      rmSync(join(root, 'lib', path), { recursive: true });
    }
    symlinkSync('/etc/hostname', join(root, 'lib/name'));
    expect(findFaults(platform, root)).toEqual([
      'lib/man/vloc.1 is missing',
      'the keychain of the system is missing',
      'lib/name is a link',
      'lib/node_modules/@jitsi/rnnoise-wasm has no license',
    ]);
  });

  it('must name the GPL and the sources of the versions in it', async () => {
    const root = await makeArchive(platform);
    writeFileSync(join(root, 'LICENSE'), 'MIT License');
    expect(findFaults(platform, root)).toEqual([
      'LICENSE does not name GPL-3.0-or-later',
      'LICENSE does not name https://github.com/k2-fsa/sherpa-onnx/archive/refs/tags/v1.2.3.tar.gz',
      'LICENSE does not name https://github.com/k2-fsa/sherpa-onnx/blob/v1.2.3/cmake/espeak-ng-for-piper.cmake',
    ]);
  });
});
