/**
 * Checks that an archive is complete, for systems other than this one as well. Whether its program runs is checked on a machine of
 * that system: .github/workflows/release.yml, `node release/run.ts --try`.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { unzipSync } from 'fflate';
import { findLicenseFaults, installedVersion } from './license.ts';
import { run } from './shell.ts';
import { type Platform, programName } from './table.ts';

/** All files and links below a folder, in a fixed order. */
export function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? listFiles(path) : [path];
    });
}

/** The folders of the packages in `node_modules`. */
export function listPackages(modules: string): string[] {
  return readdirSync(modules)
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => join(name, inner)) : [name],
    )
    .map((name) => join(modules, name));
}

/** Whether a package includes the text of its license. */
export function hasLicense(folder: string): boolean {
  return readdirSync(folder).some((name) => /^(licen[sc]e|copying)/i.test(name));
}

/** Unpacks an archive into a folder. */
export function unpack(path: string, folder: string): void {
  if (!path.endsWith('.zip')) {
    run('tar', ['-xzf', path, '-C', folder], { cwd: folder });
    return;
  }
  for (const [name, bytes] of Object.entries(unzipSync(readFileSync(path)))) {
    const target = join(folder, name);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytes);
  }
}

/** Everything that is wrong with an unpacked archive; empty if it is complete. @param root its folder */
export function findFaults(platform: Platform, root: string): string[] {
  const paths = listFiles(root).map((path) => relative(root, path).split(sep).join('/'));
  return [
    ...findMissing(platform, paths),
    ...paths.flatMap((path) => (lstatSync(join(root, path)).isFile() ? [] : [`${path} is a link`])),
    ...findUnlicensed(root),
    ...findLicense(root),
  ];
}

function findMissing(platform: Platform, paths: readonly string[]): string[] {
  const onnx = platform.os === 'win32' ? 'win' : platform.os;
  const wanted = [
    programName(platform),
    'LICENSE',
    'LICENSE.node',
    ...(platform.os === 'darwin' ? ['lib/node'] : []),
    ...['launch.cjs', 'installed-by', 'package.json', 'bin/vloc.js', 'dist/vloc.cjs'].map(
      (name) => `lib/${name}`,
    ),
    'lib/dist/separate-worker.js',
    'lib/dist/silero_vad_v6.onnx',
    'lib/dist/THIRD-PARTY-LICENSES.txt',
    'lib/completions/vloc.bash',
    'lib/man/vloc.1',
    'lib/node_modules/sherpa-onnx-node/package.json',
    `lib/node_modules/sherpa-onnx-${onnx}-${platform.cpu}/sherpa-onnx.node`,
    'lib/node_modules/@jitsi/rnnoise-wasm/dist/rnnoise.wasm',
  ];
  const keychain = paths.some((path) => /@napi-rs\/keyring-[^/]+\/[^/]+\.node$/.test(path));
  return [
    ...wanted.filter((name) => !paths.includes(name)),
    ...(keychain ? [] : ['the keychain of the system']),
  ].map((name) => `${name} is missing`);
}

function findLicense(root: string): string[] {
  const path = join(root, 'LICENSE');
  const modules = join(root, 'lib/node_modules');
  if (!existsSync(path) || !existsSync(join(modules, 'sherpa-onnx-node'))) return [];
  return findLicenseFaults(readFileSync(path, 'utf8'), installedVersion(modules, 'sherpa-onnx-node'));
}

function findUnlicensed(root: string): string[] {
  const modules = join(root, 'lib/node_modules');
  if (!existsSync(modules)) return [];
  return listPackages(modules)
    .filter((folder) => !hasLicense(folder))
    .map((folder) => `${relative(root, folder)} has no license`);
}
