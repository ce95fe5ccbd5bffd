import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FUSE, findFaults, START } from '../../release/contents.ts';
import { PLATFORMS, type Platform } from '../../release/table.ts';
import { makeStateDir } from '../service/harness/scene.ts';
import { makeElf, makeMachO, makePe } from './made-programs.ts';

const STARTING = `${readFileSync(START, 'utf8')}\n${FUSE}:1`;
const TEAM_OF_NODE = 'HX7739G8FX';
const SIGNED = makeMachO({ hash: 'sha256', team: TEAM_OF_NODE });

const NAMES = { linux: 'linux', darwin: 'darwin', win32: 'win' };
const MACHINES = { x64: 0x3e, arm64: 0xb7 };

function library({ os, cpu }: Platform): Buffer {
  if (os === 'linux') return makeElf(MACHINES[cpu], '\0GLIBC_2.28\0');
  if (os === 'win32') return makePe(0x8664);
  return makeMachO({ cpu: cpu === 'x64' ? 0x01000007 : 0x0100000c, hash: 'sha256' });
}

function program({ os, cpu }: Platform): Record<string, Buffer | string> {
  if (os === 'linux') return { vloc: makeElf(MACHINES[cpu], STARTING) };
  if (os === 'win32') return { 'vloc.exe': makePe(0x8664, STARTING) };
  const node = cpu === 'arm64' ? SIGNED : makeMachO({ cpu: 0x01000007, hash: 'sha256', team: TEAM_OF_NODE });
  return { vloc: '#!/bin/sh\n', 'lib/node': node };
}

/** An archive with everything in it, unpacked. @param changes other contents, by path; null leaves the file out */
async function makeArchive(
  platform: Platform,
  changes: Record<string, Buffer | string | null> = {},
): Promise<string> {
  const root = await makeStateDir();
  const dist = ['vloc.cjs', 'separate-worker.js', 'silero_vad_v6.onnx', 'THIRD-PARTY-LICENSES.txt'];
  const rest = [
    'launch.cjs',
    'installed-by',
    'package.json',
    'bin/vloc.js',
    'completions/vloc.bash',
    'man/vloc.1',
  ];
  const modules = {
    [`sherpa-onnx-${NAMES[platform.os]}-${platform.cpu}`]: { 'sherpa-onnx.node': library(platform) },
    '@napi-rs/keyring-system': { 'keyring.node': library(platform) },
    '@jitsi/rnnoise-wasm': { 'dist/rnnoise.wasm': 'code' },
  };
  const files: Record<string, Buffer | string | null> = {
    LICENSE: 'text',
    'LICENSE.node': 'text',
    ...Object.fromEntries(
      [...dist.map((name) => `dist/${name}`), ...rest].map((name) => [`lib/${name}`, 'text']),
    ),
    ...program(platform),
  };
  for (const [name, own] of Object.entries(modules)) {
    for (const [path, content] of Object.entries({ LICENSE: 'text', ...own })) {
      files[`lib/node_modules/${name}/${path}`] = content;
    }
  }
  for (const [path, content] of Object.entries({ ...files, ...changes })) {
    if (content === null) continue;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

const named = (name: string) => PLATFORMS.find((platform) => platform.name === name) ?? expect.fail(name);

describe.each(PLATFORMS)('the archive for $name', (platform) => {
  const native = `lib/node_modules/sherpa-onnx-${NAMES[platform.os]}-${platform.cpu}/sherpa-onnx.node`;

  it('has no faults if it is complete', async () => {
    expect(findFaults(platform, await makeArchive(platform))).toEqual([]);
  });

  it('must have all parts, and the licenses of its packages', async () => {
    const changes = {
      [native]: null,
      'lib/man/vloc.1': null,
      'lib/node_modules/@jitsi/rnnoise-wasm/LICENSE': null,
    };
    const root = await makeArchive(platform, changes);
    rmSync(join(root, 'lib/node_modules/@napi-rs'), { recursive: true });
    expect(findFaults(platform, root)).toEqual([
      'lib/man/vloc.1 is missing',
      `${native} is missing`,
      'the keychain of the system is missing',
      'lib/node_modules/@jitsi/rnnoise-wasm has no license',
    ]);
  });

  it('must have native parts for its own system and processor', async () => {
    const other = platform.os === 'win32' ? makeElf(0x3e) : makePe(0x8664);
    const faults = findFaults(platform, await makeArchive(platform, { [native]: other }));
    expect(faults).toEqual([`${native} is for ${platform.os === 'win32' ? 'linux' : 'win32'} on x64`]);
  });
});

it('an archive has no links, which could lead outside', async () => {
  const root = await makeArchive(named('linux-x64'));
  symlinkSync('/etc/hostname', join(root, 'lib/name'));
  expect(findFaults(named('linux-x64'), root)).toEqual(['lib/name is a link']);
});

it('an archive for Linux runs with the documented glibc', async () => {
  const keychain = 'lib/node_modules/@napi-rs/keyring-system/keyring.node';
  const root = await makeArchive(named('linux-arm64'), { [keychain]: makeElf(0xb7, '\0GLIBC_2.38\0') });
  expect(findFaults(named('linux-arm64'), root)).toEqual([`${keychain} needs glibc 2.38`]);
});

it.each(['linux-x64', 'linux-arm64', 'windows-x64'])(
  'the program for %s has the start of vloc inside',
  async (name) => {
    const platform = named(name);
    const path = platform.os === 'win32' ? 'vloc.exe' : 'vloc';
    const off = platform.os === 'win32' ? makePe(0x8664) : makeElf(MACHINES[platform.cpu]);
    expect(findFaults(platform, await makeArchive(platform, { [path]: off }))).toEqual([
      `${path} does not start vloc: its script is missing, or not switched on`,
    ]);
  },
);

describe('an archive for macOS on arm64', () => {
  const platform = named('macos-arm64');
  const keychain = 'lib/node_modules/@napi-rs/keyring-system/keyring.node';

  it('has Node as its makers signed it', async () => {
    const adHoc = await makeArchive(platform, { 'lib/node': makeMachO({ hash: 'sha256' }) });
    expect(findFaults(platform, adHoc)).toEqual(['lib/node is not signed by the makers of Node']);
    const changed = Buffer.from(SIGNED);
    changed[500] = 1;
    expect(findFaults(platform, await makeArchive(platform, { 'lib/node': changed }))).toEqual([
      'lib/node was changed after it was signed',
      'lib/node is not signed by the makers of Node',
    ]);
  });

  it('contains no native part that macOS refuses because it is not signed', async () => {
    const root = await makeArchive(platform, { [keychain]: makeMachO({}) });
    expect(findFaults(platform, root)).toEqual([`${keychain} is not signed`]);
  });
});
