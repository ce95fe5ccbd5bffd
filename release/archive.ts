/** Builds the archive of a platform: Node as a program that starts vloc, and the package with its native parts beside it. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Zippable, zipSync } from 'fflate';
import { QUIET_NPM, run } from './shell.ts';
import { archiveName, NODE_VERSION, PLATFORMS, type Platform, programName } from './table.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const STANDALONE = fileURLToPath(new URL('standalone', import.meta.url));

export interface ArchiveOrder {
  readonly platform: Platform;
  readonly version: string;
  /** The npm package, as it is published. */
  readonly tarball: string;
  /** The folder for the archive. */
  readonly out: string;
  /** The time of everything in it, in seconds since 1970. */
  readonly epoch: number;
}

/** Why an archive cannot be built here; null if it can. */
export function reasonAgainst(platform: Platform): string | null {
  if (platform.node !== null || isThisMachine(platform)) return null;
  return `its program must be signed on ${platform.os === 'darwin' ? 'macOS' : platform.os}; the release workflow builds it there`;
}

function isThisMachine(platform: Platform): boolean {
  return platform.os === process.platform && platform.cpu === process.arch;
}

/** Builds one archive. Returns the path of the file. @throws Error if a part has another checksum than expected */
export function buildArchive(order: ArchiveOrder): string {
  const work = mkdtempSync(join(tmpdir(), 'vloc-archive-'));
  try {
    const { folder, file } = archiveName(order.platform, order.version);
    const root = join(work, folder);
    mkdirSync(root);
    fillArchive(order, root, work);
    const path = join(order.out, file);
    if (order.platform.archive === 'zip') writeFileSync(path, zip(work, folder, order.epoch));
    else tar(work, folder, path, order.epoch);
    return path;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function fillArchive({ platform, tarball }: ArchiveOrder, root: string, work: string): void {
  run('tar', ['-xzf', tarball, '-C', work], { cwd: work });
  const lib = join(root, 'lib');
  renameSync(join(work, 'package'), lib);
  copyFileSync(join(STANDALONE, 'launch.cjs'), join(lib, 'launch.cjs'));
  // Without it, `vloc upgrade` would take the archive for an npm package.
  writeFileSync(join(lib, 'installed-by'), 'standalone\n');
  for (const name of ['LICENSE', 'README.md']) copyFileSync(join(lib, name), join(root, name));
  renameSync(installDependencies(platform, work), join(lib, 'node_modules'));
  const linuxNode = PLATFORMS.find(({ os, cpu }) => os === 'linux' && cpu === 'x64')?.node ?? null;
  // The only package of Node that has its license; it is the same for all systems.
  copyFileSync(join(unpackNode(linuxNode, work), 'LICENSE'), join(root, 'LICENSE.node'));
  buildProgram(platform, join(root, programName(platform)), work);
}

/** Installs what the lock file names for a platform, native parts among it; the same package on every machine. */
function installDependencies({ os, cpu }: Platform, work: string): string {
  const folder = join(work, 'dependencies');
  mkdirSync(folder);
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(PROJECT, name), join(folder, name));
  const target = [`--os=${os}`, `--cpu=${cpu}`, ...(os === 'linux' ? ['--libc=glibc'] : [])];
  run('npm', ['ci', '--omit=dev', ...target, ...QUIET_NPM], { cwd: folder });
  // npm's own list of what it installed.
  rmSync(join(folder, 'node_modules/.package-lock.json'), { force: true });
  return join(folder, 'node_modules');
}

/** Fetches Node for a platform with npm, and checks it. Returns the folder of the package. */
function unpackNode(node: Platform['node'], work: string): string {
  if (node === null) throw new Error('there is no package of Node for this platform');
  const folder = join(work, node.package);
  const printed = run(
    'npm',
    ['pack', `${node.package}@${NODE_VERSION}`, '--silent', '--prefer-offline', '--pack-destination', work],
    { cwd: work },
  );
  const file = join(work, printed.trim().split('\n').at(-1) ?? '');
  const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (found !== node.integrity) {
    throw new Error(`${node.package}@${NODE_VERSION} has the checksum ${found}, not ${node.integrity}`);
  }
  mkdirSync(folder, { recursive: true });
  run('tar', ['-xzf', file, '-C', folder, '--strip-components=1'], { cwd: work });
  return folder;
}

/** Names the place in Node's program that says whether a script was added; Node's documentation gives it. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Makes Node a single executable application: https://nodejs.org/api/single-executable-applications.html */
function buildProgram(platform: Platform, program: string, work: string): void {
  const native = isThisMachine(platform) && process.versions.node === NODE_VERSION;
  if (native) copyFileSync(process.execPath, program);
  else
    copyFileSync(
      join(unpackNode(platform.node, work), platform.os === 'win32' ? 'bin/node.exe' : 'bin/node'),
      program,
    );
  chmodSync(program, 0o755);
  const isMac = platform.os === 'darwin';
  if (isMac) run('codesign', ['--remove-signature', program], { cwd: work });
  const blob = join(work, 'start.blob');
  const config = { main: join(STANDALONE, 'start.cjs'), output: blob, disableExperimentalSEAWarning: true };
  writeFileSync(join(work, 'start.json'), JSON.stringify(config));
  run(process.execPath, ['--experimental-sea-config', join(work, 'start.json')], { cwd: work });
  const inject = fileURLToPath(import.meta.resolve('postject')).replace(/api\.js$/, 'cli.js');
  const segment = isMac ? ['--macho-segment-name', 'NODE_SEA'] : [];
  run(process.execPath, [inject, program, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE, ...segment], {
    cwd: work,
  });
  if (isMac) run('codesign', ['--sign', '-', program], { cwd: work });
}

/** The same files give the same archive with GNU tar; other implementations lack these options. */
function tar(work: string, folder: string, path: string, epoch: number): void {
  const fixed =
    process.platform === 'linux'
      ? [
          '--sort=name',
          `--mtime=@${epoch}`,
          '--owner=0',
          '--group=0',
          '--numeric-owner',
          '--mode=u+rw,go+rX,go-w',
        ]
      : [];
  run('tar', ['-czf', path, ...fixed, '-C', work, folder], { cwd: work });
}

function zip(work: string, folder: string, epoch: number): Uint8Array {
  const files: Zippable = {};
  for (const path of listFiles(join(work, folder))) {
    files[relative(work, path).split(sep).join('/')] = new Uint8Array(readFileSync(path));
  }
  return zipSync(files, { mtime: epoch * 1000, level: 6 });
}

/** All files below a folder, in a fixed order. */
export function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? listFiles(path) : [path];
    });
}

/** What must be in an archive for a platform; the absence of any would only be noticed on that system. */
export function missingParts(platform: Platform, version: string, paths: readonly string[]): string[] {
  const { folder } = archiveName(platform, version);
  const onnx = platform.os === 'win32' ? 'win' : platform.os;
  const wanted = [
    programName(platform),
    'LICENSE',
    'LICENSE.node',
    ...['lib/launch.cjs', 'lib/installed-by', 'lib/package.json', 'lib/bin/vloc.js', 'lib/dist/vloc.cjs'],
    ...[
      'lib/dist/separate-worker.js',
      'lib/dist/silero_vad_v6.onnx',
      'lib/completions/vloc.bash',
      'lib/man/vloc.1',
    ],
    `lib/node_modules/sherpa-onnx-${onnx}-${platform.cpu}/sherpa-onnx.node`,
    'lib/node_modules/@jitsi/rnnoise-wasm/dist/rnnoise.wasm',
  ];
  const keyring = paths.some((path) => /@napi-rs\/keyring-[^/]+\/[^/]+\.node$/.test(path));
  const missing = wanted.filter((name) => !paths.includes(`${folder}/${name}`));
  return keyring ? missing : [...missing, 'the keychain of the system'];
}

/** The paths in an archive. */
export function listArchive(path: string): string[] {
  const cwd = tmpdir();
  if (!path.endsWith('.zip')) return run('tar', ['-tzf', path], { cwd }).trim().split('\n');
  return readZipNames(readFileSync(path));
}

/** The names in the directory at the end of a zip file. */
function readZipNames(bytes: Buffer): string[] {
  const names: string[] = [];
  // The end record says where the directory begins; ours has no comment behind it.
  let at = bytes.readUInt32LE(bytes.length - 22 + 16);
  while (bytes.readUInt32LE(at) === 0x02014b50) {
    const length = bytes.readUInt16LE(at + 28);
    names.push(bytes.toString('utf8', at + 46, at + 46 + length));
    at += 46 + length + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return names;
}
