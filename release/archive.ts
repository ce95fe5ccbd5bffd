/** Builds the archive of a platform: Node as a program that starts vloc, and the package with its native parts beside it. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Zippable, zipSync } from 'fflate';
import { hasLicense, listFiles, listPackages } from './contents.ts';
import { formatLicense, installedVersion } from './license.ts';
import { QUIET_NPM, run } from './shell.ts';
import { archiveName, PLATFORMS, type Platform, programName } from './table.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const STANDALONE = fileURLToPath(new URL('standalone', import.meta.url));
/** The script inside the programs for Linux and Windows. */
const START = join(STANDALONE, 'start.cjs');
/** Names the place in Node's program that says whether a script was added; see Node's documentation. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

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
  // Without it, `vloc upgrade` would mistake the archive for an npm package.
  writeFileSync(join(lib, 'installed-by'), 'standalone\n');
  copyFileSync(join(lib, 'README.md'), join(root, 'README.md'));
  const modules = join(lib, 'node_modules');
  renameSync(installDependencies(platform, work), modules);
  addLicenses(modules);
  const license = formatLicense(
    readFileSync(join(lib, 'LICENSE'), 'utf8'),
    installedVersion(modules, 'sherpa-onnx-node'),
  );
  writeFileSync(join(root, 'LICENSE'), license);
  const node = unpackNode(platform, work);
  const withLicense = existsSync(join(node, 'LICENSE')) ? node : unpackNode(PLATFORMS[0], work);
  copyFileSync(join(withLicense, 'LICENSE'), join(root, 'LICENSE.node'));
  const program = join(root, programName(platform));
  if (platform.os === 'darwin') {
    // Only macOS can sign a program again that was changed, and without a signature it does not start there.
    copyFileSync(join(node, NODE_PROGRAM.darwin), join(lib, 'node'));
    copyFileSync(join(STANDALONE, 'start.sh'), program);
    chmodSync(join(lib, 'node'), 0o755);
  } else {
    const bytes = readFileSync(join(node, NODE_PROGRAM[platform.os]));
    writeFileSync(program, platform.os === 'win32' ? withoutSignature(bytes) : bytes);
    addStart(program, work);
  }
  chmodSync(program, 0o755);
}

/** Where the offset of PE's header is written. */
const PE_OFFSET_AT = 0x3c;
/** Where the optional header of PE begins, and in it the address and size of the signature in programs of 64 bits. */
const PE_OPTIONAL = 24;
const PE_SIGNATURE = 112 + 4 * 8;

/**
 * Removes the signature from a program for Windows, since the program is going to be changed: Windows and virus scanners treat a
 * signature that does not fit as worse than none.
 * @throws Error if something is after the signature, which would be lost
 */
function withoutSignature(program: Buffer): Buffer {
  const at = program.readUInt32LE(PE_OFFSET_AT) + PE_OPTIONAL + PE_SIGNATURE;
  const start = program.readUInt32LE(at);
  if (start === 0) return program;
  if (start + program.readUInt32LE(at + 4) !== program.length)
    throw new Error('the signature is not at the end');
  const kept = Buffer.from(program.subarray(0, start));
  kept.fill(0, at, at + 8);
  return kept;
}

/** Where the packages of Node have it. */
const NODE_PROGRAM = { linux: 'bin/node', darwin: 'bin/node', win32: 'bin/node.exe' };

/** Installs what the lock file names for a platform, native parts among it; the same package on every machine. */
function installDependencies({ os, cpu }: Platform, work: string): string {
  const folder = join(work, 'dependencies');
  mkdirSync(folder);
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(PROJECT, name), join(folder, name));
  const target = [`--os=${os}`, `--cpu=${cpu}`, ...(os === 'linux' ? ['--libc=glibc'] : [])];
  run('npm', ['ci', '--omit=dev', ...target, ...QUIET_NPM], { cwd: folder });
  // npm's own list of what it installed, and links to programs that vloc does not call.
  for (const name of ['.package-lock.json', '.bin']) {
    rmSync(join(folder, 'node_modules', name), { recursive: true, force: true });
  }
  return join(folder, 'node_modules');
}

/** Licenses of packages that do not include theirs. */
const NOTICES = fileURLToPath(new URL('notices', import.meta.url));

/** Adds the licenses that packages lack: an archive passes on their files, and must pass these on as well. */
function addLicenses(modules: string): void {
  for (const folder of listPackages(modules)) {
    const notice = join(NOTICES, `${basename(folder).replace(/^sherpa-onnx-.*/, 'sherpa-onnx')}.txt`);
    if (!hasLicense(folder) && existsSync(notice)) copyFileSync(notice, join(folder, 'LICENSE'));
  }
}

/** Fetches Node for a platform with npm, and checks it. Returns the folder of the package. */
function unpackNode({ node }: Platform, work: string): string {
  const name = `${node.package}@${node.version}`;
  const printed = run('npm', ['pack', name, '--silent', '--prefer-offline', '--pack-destination', work], {
    cwd: work,
  });
  const file = join(work, printed.trim().split('\n').at(-1) ?? '');
  const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (found !== node.integrity) throw new Error(`${name} has the checksum ${found}, not ${node.integrity}`);
  const folder = join(work, node.package);
  mkdirSync(folder, { recursive: true });
  run('tar', ['-xzf', file, '-C', folder, '--strip-components=1'], { cwd: work });
  return folder;
}

/** Makes Node a single executable application: https://nodejs.org/api/single-executable-applications.html */
function addStart(program: string, work: string): void {
  const blob = join(work, 'start.blob');
  const config = { main: START, output: blob, disableExperimentalSEAWarning: true };
  writeFileSync(join(work, 'start.json'), JSON.stringify(config));
  run(process.execPath, ['--experimental-sea-config', join(work, 'start.json')], { cwd: work });
  const inject = fileURLToPath(import.meta.resolve('postject')).replace(/api\.js$/, 'cli.js');
  run(process.execPath, [inject, program, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE], { cwd: work });
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
