/** The package for Debian and its relatives, made from the archive of the same platform. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ENGINES } from '../src/engines/catalog.ts';
import { listFiles } from './contents.ts';
import type { PackageFile, Repository } from './facts.ts';
import { run } from './shell.ts';
import type { Platform } from './table.ts';

export interface DebOrder {
  readonly platform: Platform;
  readonly file: PackageFile;
  readonly repository: Repository | null;
  /** The archive whose files it installs. */
  readonly archive: string;
  readonly out: string;
  readonly epoch: number;
}

/** Where the system keeps what comes with vloc, and the file of the archive that goes there. */
const SHARED = [
  { from: 'lib/completions/vloc.bash', to: 'usr/share/bash-completion/completions/vloc' },
  { from: 'lib/completions/_vloc', to: 'usr/share/zsh/vendor-completions/_vloc' },
  { from: 'lib/completions/vloc.fish', to: 'usr/share/fish/vendor_completions.d/vloc.fish' },
  { from: 'LICENSE', to: 'usr/share/doc/vloc/copyright' },
];
/** The same, compressed as Debian demands. */
const COMPRESSED = [
  { from: 'lib/man/vloc.1', to: 'usr/share/man/man1/vloc.1.gz' },
  { from: 'lib/CHANGELOG.md', to: 'usr/share/doc/vloc/changelog.gz' },
];

/** The control file. @param kib the installed size */
function debControl(
  { description, version, author }: PackageFile,
  { deb: architecture, glibc }: Platform,
  kib: number,
  repository: Repository | null,
): string {
  const engines = ENGINES.flatMap(({ install }) => install.debian ?? []);
  const [summary = ''] = description.split(':');
  return `${[
    'Package: vloc',
    `Version: ${debVersion(version)}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${author}`,
    `Installed-Size: ${kib}`,
    `Depends: libc6 (>= ${glibc}), libgcc-s1, libstdc++6`,
    `Recommends: ${engines.join(', ')}`,
    'Section: video',
    'Priority: optional',
    ...(repository === null ? [] : [`Homepage: ${repository.url}`]),
    `Description: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`,
    ' vloc translates and dubs videos, with a hosted service or on this machine. The',
    ' recommended packages are the engines for this machine.',
  ].join('\n')}\n`;
}

/** `1.0.0-rc.1` comes before `1.0.0` in Debian only with a tilde. */
export function debVersion(version: string): string {
  return version.replace('-', '~');
}

/** Builds the package with dpkg-deb. Returns its path. */
export function buildDeb({ platform, file, repository, archive, out, epoch }: DebOrder): string {
  const architecture = platform.deb;
  if (architecture === undefined) throw new Error(`${platform.name} has no Debian package`);
  const root = mkdtempSync(join(tmpdir(), 'vloc-deb-'));
  try {
    chmodSync(root, 0o755);
    const home = join(root, 'usr/lib/vloc');
    mkdirSync(home, { recursive: true });
    run('tar', ['-xzf', archive, '-C', home, '--strip-components=1'], { cwd: root });
    writeFileSync(join(home, 'lib/installed-by'), 'deb\n');
    mkdirSync(join(root, 'usr/bin'));
    symlinkSync('../lib/vloc/vloc', join(root, 'usr/bin/vloc'));
    for (const { from, to } of SHARED) put(join(root, to), readFileSync(join(home, from)));
    for (const { from, to } of COMPRESSED)
      put(join(root, to), gzipSync(readFileSync(join(home, from)), { level: 9 }));
    const bytes = listFiles(root).reduce((sum, path) => sum + readFileSync(path).byteLength, 0);
    put(join(root, 'DEBIAN/control'), debControl(file, platform, Math.ceil(bytes / 1024), repository));
    const path = join(out, `vloc_${debVersion(file.version)}_${architecture}.deb`);
    // xz, since releases of Debian before 12 cannot read zstd; a higher level takes minutes.
    run('dpkg-deb', ['--root-owner-group', '-Zxz', '-z2', '--build', root, path], {
      cwd: root,
      env: { SOURCE_DATE_EPOCH: String(epoch) },
    });
    return path;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode: 0o644 });
}
