/** Checks the contents of an archive, for systems other than this one as well: their absence would only be noticed there. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';
import { compareGlibc, newestGlibc, readSignature, readTarget } from './programs.ts';
import { run } from './shell.ts';
import { type Platform, programName } from './table.ts';

/** The script inside the programs for Linux and Windows. */
export const START = fileURLToPath(new URL('standalone/start.cjs', import.meta.url));
/** Names the place in Node's program that says whether a script was added; see Node's documentation. */
export const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
/** The Node.js Foundation, as Apple numbers it. */
const NODE_TEAM = 'HX7739G8FX';

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
    ...paths.flatMap((path) => {
      const fault = faultOf(platform, readFileSync(join(root, path)));
      return fault === null ? [] : [`${path} ${fault}`];
    }),
    ...findStartFaults(platform, root),
  ];
}

function findMissing(platform: Platform, paths: readonly string[]): string[] {
  const onnx = platform.os === 'win32' ? 'win' : platform.os;
  const wanted = [
    programName(platform),
    'LICENSE',
    'LICENSE.node',
    ...['launch.cjs', 'installed-by', 'package.json', 'bin/vloc.js', 'dist/vloc.cjs'].map(
      (name) => `lib/${name}`,
    ),
    'lib/dist/separate-worker.js',
    'lib/dist/silero_vad_v6.onnx',
    'lib/dist/THIRD-PARTY-LICENSES.txt',
    'lib/completions/vloc.bash',
    'lib/man/vloc.1',
    `lib/node_modules/sherpa-onnx-${onnx}-${platform.cpu}/sherpa-onnx.node`,
    'lib/node_modules/@jitsi/rnnoise-wasm/dist/rnnoise.wasm',
  ];
  const keychain = paths.some((path) => /@napi-rs\/keyring-[^/]+\/[^/]+\.node$/.test(path));
  return [
    ...wanted.filter((name) => !paths.includes(name)),
    ...(keychain ? [] : ['the keychain of the system']),
  ].map((name) => `${name} is missing`);
}

function findUnlicensed(root: string): string[] {
  const modules = join(root, 'lib/node_modules');
  if (!existsSync(modules)) return [];
  return listPackages(modules)
    .filter((folder) => !hasLicense(folder))
    .map((folder) => `${relative(root, folder)} has no license`);
}

/** Why a program or library cannot be used on a system; null for those that can, and for other files. */
function faultOf({ os, cpu, glibc }: Platform, bytes: Buffer): string | null {
  const target = readTarget(bytes);
  if (target === null) return null;
  if (target.os !== os || target.cpu !== cpu) return `is for ${target.os} on ${target.cpu}`;
  const needed = os === 'linux' ? newestGlibc(bytes) : null;
  if (needed !== null && glibc !== undefined && compareGlibc(needed, glibc) > 0)
    return `needs glibc ${needed}`;
  if (os !== 'darwin') return null;
  const { isSigned, fault } = signatureOf(bytes);
  // On arm64, macOS loads nothing without a signature.
  return fault ?? (isSigned || cpu === 'x64' ? null : 'is not signed');
}

interface Signed {
  readonly isSigned: boolean;
  readonly team: string | null;
  readonly fault: string | null;
}

function signatureOf(bytes: Buffer): Signed {
  try {
    const found = readSignature(bytes);
    return { isSigned: found !== null, team: found?.team ?? null, fault: null };
  } catch (error) {
    return { isSigned: true, team: null, fault: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether the program of an archive starts vloc. */
function findStartFaults(platform: Platform, root: string): string[] {
  const name = platform.os === 'darwin' ? 'lib/node' : programName(platform);
  if (!existsSync(join(root, name))) return [`${name} is missing`];
  const bytes = readFileSync(join(root, name));
  if (readTarget(bytes) === null) return [`${name} is not a program`];
  if (platform.os === 'darwin') {
    return signatureOf(bytes).team === NODE_TEAM ? [] : [`${name} is not signed by the makers of Node`];
  }
  const hasStart = bytes.includes(readFileSync(START)) && bytes.includes(`${FUSE}:1`);
  return hasStart ? [] : [`${name} does not start vloc: its script is missing, or not switched on`];
}
